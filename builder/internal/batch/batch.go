package batch

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/workqueue"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/store"
)

// firstBatch is the number of requests that run first, as a probe.
const firstBatch = 8

// Each calls do for 0 to n-1, at most limit at a time: a few first, then the rest. After a failure that is likely to affect all calls
// (a failing server), it starts no further ones, so that a thousand children don't cause a thousand failing requests.
func Each(n, limit int, do func(i int) error) error {
	if n == 0 {
		return nil
	}
	errs := make([]error, n)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	try := func(i int) {
		if errs[i] = do(i); errs[i] != nil && reachOf(errs[i]) == reachesAll {
			stop()
		}
	}
	first := min(firstBatch, limit, n)
	workqueue.ParallelizeUntil(context.Background(), first, first, try)
	workqueue.ParallelizeUntil(ctx, limit, n-first, func(i int) { try(first + i) })
	return errors.Join(errs...)
}

// reach is the set of requests that a failure is likely to affect.
type reach int

const (
	reachesOne  reach = iota // this object: invalid, not owned, a conflict, denied by an admission webhook or policy
	reachesKind              // its kind and namespace: a missing permission, an exceeded quota, a missing kind, a broken webhook
	reachesAll               // all requests: no connection, a failing server
)

// ReachesAll reports whether one of several joined failures is likely to affect all requests.
func ReachesAll(err error) bool {
	return slices.ContainsFunc(errorlist.Of(err), func(leaf error) bool { return reachOf(leaf) == reachesAll })
}

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
type Kinds struct{ stopped sync.Map } // by keys without a name, and without a namespace if the kind fails in all of them

// Try calls do for an object. It returns nil without a call if a call for another object has failed in a way that applies to this one.
func (f *Kinds) Try(key store.Key, do func() error) error {
	where, everywhere := key, store.Key{Group: key.Group, Kind: key.Kind}
	where.Name = ""
	for _, in := range []store.Key{where, everywhere} {
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
