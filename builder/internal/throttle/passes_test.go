package throttle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

func TestPasses(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	owner, other := types.NamespacedName{Name: "large"}, types.NamespacedName{Name: "other"}
	const plan, took = 5 * time.Millisecond, 10 * time.Millisecond
	for name, c := range map[string]struct {
		passes []time.Duration
		change bool // by the last
		want   time.Duration
	}{
		"not seen yet":                     {nil, false, 0},
		"a cheap pass":                     {[]time.Duration{cheapPlan - 1}, false, 0},
		"one that changed nothing":         {[]time.Duration{plan}, false, took},
		"the third in a row":               {[]time.Duration{plan, plan, plan}, false, 3 * took},
		"the last changed a child":         {[]time.Duration{plan, plan, plan}, true, 0},
		"a cheap one between":              {[]time.Duration{plan, plan, 0, plan}, false, took},
		"many in a row":                    {make([]time.Duration, 100), false, 0},
		"long ones":                        {[]time.Duration{time.Second}, false, maxDelay},
		"long ones in a row are not worse": {[]time.Duration{time.Second, time.Minute, time.Hour}, false, maxDelay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := NewPasses()
			for i, d := range c.passes {
				p.Note(owner, d, c.change && i == len(c.passes)-1, now)
			}
			assert.Equal(t, c.want, max(0, p.Delay(owner, now)))
			assert.Zero(t, p.Delay(other, now))
			assert.LessOrEqual(t, p.Delay(owner, now.Add(c.want)), time.Duration(0), "it is over in time")
			assert.LessOrEqual(t, p.Delay(owner, now.Add(-time.Hour)), maxDelay, "a clock that was set back")
		})
	}
	p := NewPasses()
	for range 3 * maxDelayInPasses {
		p.Note(owner, plan, false, now)
	}
	assert.Equal(t, maxDelayInPasses*took, p.Delay(owner, now), "bounded in passes")
}
