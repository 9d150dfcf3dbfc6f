package runpolicy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var start = metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))

func TestIsOurs(t *testing.T) {
	assert.True(t, IsOurs(nil))
	assert.True(t, IsOurs(ptr.To(ManagedByArmature)))
	assert.False(t, IsOurs(ptr.To("kueue.x-k8s.io/multikueue")))
	assert.False(t, IsOurs(ptr.To("")))
}

func TestDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		start   *metav1.Time
		seconds *int64
		after   time.Duration
		want    Timer
	}{
		"no deadline":         {start: &start, after: time.Hour},
		"not started":         {seconds: ptr.To[int64](10), after: time.Hour},
		"under way":           {&start, ptr.To[int64](10), 4 * time.Second, Timer{Left: 6 * time.Second}},
		"just due":            {&start, ptr.To[int64](10), 10 * time.Second, Timer{Due: true}},
		"long past":           {&start, ptr.To[int64](10), time.Hour, Timer{Due: true}},
		"at once":             {&start, ptr.To[int64](0), 0, Timer{Due: true}},
		"the clock went back": {&start, ptr.To[int64](10), -time.Second, Timer{Left: 11 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Deadline(c.start, c.seconds, start.Add(c.after)))
		})
	}
}

func TestExpiry(t *testing.T) {
	assert.Equal(t, Timer{}, Expiry(&start, nil, start.Time))
	assert.Equal(t, Timer{}, Expiry(nil, ptr.To[int32](1), start.Time))
	assert.Equal(t, Timer{Left: time.Second}, Expiry(&start, ptr.To[int32](1), start.Time))
	assert.Equal(t, Timer{Due: true}, Expiry(&start, ptr.To[int32](0), start.Time))
}

func TestSoonest(t *testing.T) {
	assert.Zero(t, Soonest())
	assert.Zero(t, Soonest(0, 0))
	assert.Equal(t, time.Second, Soonest(0, time.Minute, time.Second))
}
