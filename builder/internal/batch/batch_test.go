package batch

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/store"
)

var (
	pods       = corev1.Resource("pods")
	invalid    = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil)
	conflict   = apierrors.NewConflict(pods, "p", errors.New("changed"))
	full       = apierrors.NewForbidden(pods, "p", errors.New("exceeded quota"))
	errMisused = fmt.Errorf("%w: a nil: %w", failure.ErrMisuse, errors.New("cause"))
)

func of(err error) error {
	return &failure.Error{Key: store.Key{Kind: "Pod", Name: "p"}, Operation: "create", Err: err}
}

func denied(code int32, message string) error {
	err := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil)
	err.ErrStatus.Code, err.ErrStatus.Message = code, message
	return err
}

func TestEachIsDoneOnceWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, limit := rapid.IntRange(0, 200).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "limit")
		done := make([]atomic.Int32, n)
		var running, most atomic.Int32
		err := Each(n, limit, func(i int) error {
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
		"not owned": {of(failure.ErrNotOwned), 500},
		"misuse":    {errMisused, 500},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			var failing Kinds
			err := Each(500, 32, func(int) error {
				return failing.Try(store.Key{Kind: "Pod"}, func() error { calls.Add(1); return c.err })
			})
			assert.Len(t, errorlist.Of(err), int(calls.Load()))
			assert.LessOrEqual(t, int(calls.Load()), c.most)
			if c.most > firstBatch {
				assert.Equal(t, c.most, int(calls.Load()))
			}
		})
	}
	t.Run("later", func(t *testing.T) {
		var calls atomic.Int32
		err := Each(5000, 32, func(i int) error {
			if calls.Add(1) > 100 {
				return errors.New("no more")
			}
			return nil
		})
		assert.Error(t, err)
		assert.Less(t, int(calls.Load()), 200)
	})
}

func TestReach(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want reach
	}{
		"invalid":        {of(invalid), reachesOne},
		"misuse":         {errMisused, reachesOne},
		"conflict":       {of(conflict), reachesOne},
		"not owned":      {of(failure.ErrNotOwned), reachesOne},
		"denied":         {of(denied(403, `admission webhook "x" denied the request: no`)), reachesOne},
		"node port":      {of(&apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "duplicate nodePort: {TCP 30000}"}}), reachesOne},
		"quota":          {of(full), reachesKind},
		"namespace":      {of(apierrors.NewNotFound(pods, "p")), reachesKind},
		"no kind":        {of(&meta.NoKindMatchError{}), reachesKind},
		"broken webhook": {of(apierrors.NewInternalError(errors.New(`failed calling webhook "x": timeout`))), reachesKind},
		"broken conversion": {of(&apierrors.StatusError{ErrStatus: metav1.Status{
			Code: 500, Message: "conversion webhook for example.com/v1, Kind=Foo failed: Post \"https://x\": refused",
		}}), reachesKind},
		"internal":     {of(apierrors.NewInternalError(errors.New("x"))), reachesAll},
		"etcd's limit": {apierrors.NewInternalError(errors.New("etcdserver: request is too large")), reachesOne}, // others can be written
		"timeout":      {of(apierrors.NewTimeoutError("x", 1)), reachesAll},
		"too many":     {of(apierrors.NewTooManyRequests("x", 1)), reachesAll},
		"network":      {errors.New("connection refused"), reachesAll},
	} {
		assert.Equal(t, c.want, reachOf(c.err), name)
	}
}

func TestFailingKindsAreTriedNoMore(t *testing.T) {
	var calls atomic.Int32
	try := func(f *Kinds, kind, namespace string, err error) {
		_ = f.Try(store.Key{Kind: kind, Namespace: namespace}, func() error { calls.Add(1); return err })
	}
	var f Kinds
	try(&f, "A", "n", of(conflict))
	try(&f, "A", "n", of(full))
	try(&f, "A", "n", nil) // not tried
	try(&f, "A", "m", nil)
	try(&f, "B", "n", nil)
	assert.EqualValues(t, 4, calls.Load())
}
