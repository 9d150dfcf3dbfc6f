package builder

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/memory"
)

func TestWhenToLookAgain(t *testing.T) {
	minute := time.Minute
	cases := map[string]struct {
		after     time.Duration
		err       error
		want      time.Duration
		retried   bool
		abandoned bool
	}{
		"done":                          {0, nil, 0, false, false},
		"in a minute":                   {minute, nil, minute, false, false},
		"conflict":                      {minute, of(conflict), conflictDelay, false, false},
		"transient":                     {minute, of(full), 0, true, false},
		"terminal":                      {0, of(invalid), 0, false, true},
		"terminal, with a time":         {minute, of(invalid), minute, false, false},
		"terminal, and at once":         {shortestRequeue, of(invalid), 0, true, false},
		"terminal, and the status lost": {minute, errors.Join(of(invalid), of(full)), 0, true, false},
		"terminal, and a conflict":      {minute, errors.Join(of(invalid), of(conflict)), 0, true, false},
	}
	l := &reconciler[*corev1.ConfigMap]{now: time.Now, engine: &Engine{memory: memory.New()}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := l.next(t.Context(), owner(), c.after, c.err)
			assert.Equal(t, c.want, res.RequeueAfter)
			abandoned := errors.Is(err, reconcile.TerminalError(nil))
			assert.Equal(t, c.abandoned, abandoned)
			assert.Equal(t, c.retried, err != nil && !abandoned)
		})
	}
}

// A conflict that stays has another cause than a late cache: an event reports it, and it is retried with backoff.
func TestConflictsInARowAreReported(t *testing.T) {
	n := &notebook{}
	l := &reconciler[*corev1.ConfigMap]{now: time.Now, engine: NewEngine(nil, Options{Recorder: n})}
	next := func(doErr, statusErr error) error {
		l.engine.emitResult(owner(), "", Result{}, doErr)
		l.engine.emitStatusFailure(owner(), statusErr)
		_, err := l.next(t.Context(), owner(), 0, errors.Join(doErr, statusErr))
		return err
	}
	for range 2 {
		for _, errs := range [][2]error{{of(conflict), nil}, {nil, of(conflict)}} {
			n.notes = nil
			for range maxConflicts {
				require.NoError(t, next(errs[0], errs[1]))
			}
			require.Empty(t, n.notes)
			require.Error(t, next(errs[0], errs[1]))
			require.Error(t, next(errs[0], errs[1]))
			require.Len(t, n.notes, 1)
			require.NoError(t, next(nil, nil), "the next conflict is the first one again")
		}
	}
}

func TestSooner(t *testing.T) {
	for _, c := range [][3]time.Duration{{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {1, 2, 1}, {2, 1, 1}, {-1, 2, 2}, {2, -1, 2}, {-1, -1, 0}} {
		assert.Equal(t, c[2], sooner(c[0], c[1]), "%v", c)
	}
}
