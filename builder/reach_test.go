package builder

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/store"
)

func TestReach(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want reach
	}{
		"invalid":        {of(invalid), reachesOne},
		"misuse":         {errMisused, reachesOne},
		"conflict":       {of(conflict), reachesOne},
		"not owned":      {of(ErrNotOwned), reachesOne},
		"denied":         {of(denied(403, `admission webhook "x" denied the request: no`)), reachesOne},
		"quota":          {of(full), reachesKind},
		"namespace":      {of(apierrors.NewNotFound(pods, "p")), reachesKind},
		"no kind":        {of(&meta.NoKindMatchError{}), reachesKind},
		"broken webhook": {of(apierrors.NewInternalError(errors.New(`failed calling webhook "x": timeout`))), reachesKind},
		"internal":       {of(apierrors.NewInternalError(errors.New("x"))), reachesAll},
		"timeout":        {of(apierrors.NewTimeoutError("x", 1)), reachesAll},
		"too many":       {of(apierrors.NewTooManyRequests("x", 1)), reachesAll},
		"network":        {errors.New("connection refused"), reachesAll},
	} {
		assert.Equal(t, c.want, reachOf(c.err), name)
	}
}

func TestFailingKindsAreTriedNoMore(t *testing.T) {
	var calls atomic.Int32
	try := func(f *failingKinds, kind, namespace string, err error) {
		_ = f.try(store.Key{Kind: kind, Namespace: namespace}, func() error { calls.Add(1); return err })
	}
	var f failingKinds
	try(&f, "A", "n", of(conflict))
	try(&f, "A", "n", of(full))
	try(&f, "A", "n", nil) // not tried
	try(&f, "A", "m", nil)
	try(&f, "B", "n", nil)
	assert.EqualValues(t, 4, calls.Load())
}
