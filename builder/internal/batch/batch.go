package batch

import (
	"errors"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// firstBatch is the number of requests that run first, as a probe.
const firstBatch = 8

// Each calls do for 0 to n-1, at most limit at a time: a few first, then the rest. After a failure that is likely to affect all calls
// (a failing server), it starts no further ones, so that a thousand children don't cause a thousand failing requests.
func Each(n, limit int, do func(i int) error) error {
	errs := make([]error, n)
	var stopped atomic.Bool
	try := func(i int) {
		if errs[i] = do(i); errs[i] != nil && reachOf(errs[i]) == reachesAll {
			stopped.Store(true)
		}
	}
	next := min(firstBatch, limit, n)
	var wg sync.WaitGroup
	for i := range next {
		wg.Go(func() { try(i) })
	}
	wg.Wait()

	var taken atomic.Int64
	taken.Store(int64(next))
	for range min(limit, n-next) {
		wg.Go(func() {
			for !stopped.Load() {
				i := int(taken.Add(1)) - 1
				if i >= n {
					return
				}
				try(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// reach is the set of requests that a failure is likely to affect.
type reach int

const (
	reachesOne  reach = iota // this object: invalid, not owned, a conflict, denied by an admission webhook or policy
	reachesKind              // its kind and namespace: a missing permission, an exceeded quota, a missing kind, a broken webhook
	reachesAll               // all requests: no connection, a failing server
)

func reachOf(err error) reach {
	switch {
	case failure.IsTerminal(err), errors.Is(err, failure.ErrNotOwned), apierrors.IsConflict(err), apistatus.IsDenied(err),
		apistatus.IsDuplicateNodePort(err):
		return reachesOne
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), meta.IsNoMatchError(err), apistatus.IsWebhookBroken(err):
		return reachesKind
	default:
		return reachesAll
	}
}

// Kinds are the failing kinds, for which no further requests are made. The zero value is ready for use, also concurrently.
type Kinds struct{ stopped sync.Map }

type kindIn struct {
	kind      schema.GroupKind
	namespace string
}

// Try calls do for an object. It returns nil without a call if a call for another object has failed in a way that applies to this one.
func (f *Kinds) Try(key store.Key, do func() error) error {
	where := kindIn{key.GroupKind(), key.Namespace}
	everywhere := kindIn{kind: where.kind}
	for _, in := range []kindIn{where, everywhere} {
		if _, stopped := f.stopped.Load(in); stopped {
			return nil
		}
	}
	err := do()
	switch {
	case err == nil:
	case kinds.IsGone(err):
		f.stopped.Store(everywhere, true)
	case reachOf(err) == reachesKind:
		f.stopped.Store(where, true)
	}
	return err
}
