package rollout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/builder/internal/failure"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options Options
		timeout time.Duration
		wrong   string
	}{
		"none":          {Options{}, 0, ""},
		"an alert":      {Options{AlertAfter: time.Minute}, time.Minute, ""},
		"a rollback":    {Options{RollbackAfter: time.Minute}, time.Minute, ""},
		"too short":     {Options{RollbackAfter: time.Millisecond}, time.Second, ""},
		"both":          {Options{AlertAfter: time.Minute, RollbackAfter: time.Hour}, time.Hour, "set one of them"},
		"before zero":   {Options{AlertAfter: -time.Minute}, time.Second, "must be positive"},
		"phases":        {Options{Phases: []string{"a", "b"}}, 0, ""},
		"no name":       {Options{Phases: []string{""}}, 0, "is empty or named twice"},
		"a phase twice": {Options{Phases: []string{"a", "b", "a"}}, 0, `phase "a" is empty or named twice in ["a" "b" "a"]`},
	} {
		assert.Equal(t, c.timeout, c.options.timeout(), name)
		err := c.options.Check()
		if c.wrong == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorIs(t, err, failure.ErrMisuse, name)
		assert.ErrorContains(t, err, c.wrong, name)
	}
}
