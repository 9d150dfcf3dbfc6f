package builder

import (
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/store"
)

// reach is how far a failure is likely to reach.
type reach int

const (
	reachesOne  reach = iota // this object: invalid, not ours, a conflict, denied by an admission webhook or policy
	reachesKind              // all of its kind and namespace: no permission, a full quota, no such kind, a broken webhook
	reachesAll               // everything: no connection, a server in trouble
)

func reachOf(err error) reach {
	switch {
	case IsTerminal(err), errors.Is(err, ErrNotOwned), apierrors.IsConflict(err), apistatus.IsDenied(err):
		return reachesOne
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), meta.IsNoMatchError(err), apistatus.IsWebhookBroken(err):
		return reachesKind
	default:
		return reachesAll
	}
}

// failingKinds are those that no further requests are made for. Its zero value is ready for use, also in parallel.
type failingKinds struct{ stopped sync.Map }

type kindIn struct {
	kind      schema.GroupKind
	namespace string
}

// try calls do for an object, unless that has failed for another one in a way that reaches it.
func (f *failingKinds) try(key store.Key, do func() error) error {
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
	case isKindGone(err):
		f.stopped.Store(everywhere, true)
	case reachOf(err) == reachesKind:
		f.stopped.Store(where, true)
	}
	return err
}
