package phases

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/rollout"
)

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		options rollout.Options
		timeout time.Duration
		wrong   string
	}{
		"none":          {rollout.Options{}, 0, ""},
		"an alert":      {rollout.Options{AlertAfter: time.Minute}, time.Minute, ""},
		"a rollback":    {rollout.Options{RollbackAfter: time.Minute}, time.Minute, ""},
		"too short":     {rollout.Options{RollbackAfter: time.Millisecond}, time.Second, ""},
		"both":          {rollout.Options{AlertAfter: time.Minute, RollbackAfter: time.Hour}, time.Hour, "set one of them"},
		"before zero":   {rollout.Options{AlertAfter: -time.Minute}, time.Second, "must be positive"},
		"phases":        {rollout.Options{Phases: []string{"a", "b"}}, 0, ""},
		"no name":       {rollout.Options{Phases: []string{""}}, 0, "is empty or named twice"},
		"a phase twice": {rollout.Options{Phases: []string{"a", "b", "a"}}, 0, `phase "a" is empty or named twice in ["a" "b" "a"]`},
	} {
		assert.Equal(t, c.timeout, timeout(c.options), name)
		err := CheckOptions(c.options)
		if c.wrong == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorIs(t, err, failure.ErrMisuse, name)
		assert.ErrorContains(t, err, c.wrong, name)
	}
}
