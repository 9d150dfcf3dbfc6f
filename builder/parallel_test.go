package builder

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/store"
	"pgregory.net/rapid"
)

func TestEachIsDoneOnceWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, limit := rapid.IntRange(0, 200).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "limit")
		done := make([]atomic.Int32, n)
		var running, most atomic.Int32
		err := inBatches(n, limit, func(i int) error {
			now := running.Add(1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			done[i].Add(1)
			running.Add(-1)
			return nil
		})
		assert.NoError(t, err)
		for i := range done {
			assert.Equal(t, int32(1), done[i].Load())
		}
		assert.LessOrEqual(t, int(most.Load()), limit)
	})
}

func TestFailuresOfAllStopTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		most int
	}{
		"quota":     {of(full), firstBatch},
		"no server": {of(errors.New("connection refused")), firstBatch},
		"invalid":   {of(invalid), 500},
		"conflict":  {of(conflict), 500},
		"not owned": {of(ErrNotOwned), 500},
		"misuse":    {errMisused, 500},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			var failing failingKinds
			err := inBatches(500, 32, func(int) error {
				return failing.try(store.Key{Kind: "Pod"}, func() error { calls.Add(1); return c.err })
			})
			assert.Len(t, leaves(err), int(calls.Load()))
			assert.LessOrEqual(t, int(calls.Load()), c.most)
			if c.most > firstBatch {
				assert.Equal(t, c.most, int(calls.Load()))
			}
		})
	}
	t.Run("later", func(t *testing.T) {
		var calls atomic.Int32
		err := inBatches(5000, 32, func(i int) error {
			if calls.Add(1) > 100 {
				return errors.New("no more")
			}
			return nil
		})
		assert.Error(t, err)
		assert.Less(t, int(calls.Load()), 200)
	})
}
