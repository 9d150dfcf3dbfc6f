package sources

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
)

const (
	// maxWait is the limit of a read's wait for the client's own writes. A cache normally shows them within milliseconds.
	maxWait = 10 * time.Second
	// shortWait is the limit after a read of the same kind has waited for maxWait, because the cache had that time for all earlier writes.
	shortWait = 100 * time.Millisecond

	// behind is the prefix of controller-runtime's error for a cache that doesn't show a write in time.
	behind = "failed to wait for cache to catch up"
	// beyondDeadline is the error of a client-side rate limiter, at once, for a request that it would delay beyond the context's deadline.
	beyondDeadline = "would exceed context deadline"
)

// Bounded returns a client whose reads wait at most 10 seconds for the client's own writes. With read-your-writes consistency a read
// waits until its context ends. A controller's context has no deadline, so an object that a filter of the cache hides would block a worker
// forever. After the 10 seconds, no read waits for such an object until the cache shows it, and no list waits for its kind until the next
// write of another object of the kind.
func Bounded(c client.Client, k *kinds.Registry) client.Client {
	b := &bounded{kinds: k, hidden: memory.NewRecent[hidden, struct{}]()}
	b.unawaited = unawaited{c, b.isHidden}
	return b
}

// hidden is an object that the cache didn't show in time, or without a name a kind with such objects.
type hidden struct {
	kinds.Kind
	types.NamespacedName
}

type bounded struct {
	unawaited // of hidden objects, because lists of the kind would wait for their writes, too
	kinds     *kinds.Registry
	hidden    *memory.Recent[hidden, struct{}]
}

// isHidden reports whether an object that is to be written is hidden. If it isn't, the next reads of the kind wait for the write.
func (b *bounded) isHidden(obj client.Object) bool {
	if b.hidden.Len() == 0 {
		return false
	}
	k, err := b.kinds.Of(obj)
	if err != nil {
		return false
	}
	if _, is := b.hidden.Get(hidden{k, client.ObjectKeyFromObject(obj)}); is {
		return true
	}
	b.hidden.Remove(hidden{Kind: k})
	return false
}

func (b *bounded) Get(ctx context.Context, key types.NamespacedName, obj client.Object, opts ...client.GetOption) error {
	of := func() (hidden, error) {
		k, err := b.kinds.Of(obj)
		return hidden{k, key}, err
	}
	isHidden, err := b.read(ctx, of, func(ctx context.Context, wait bool) error {
		if !wait {
			opts = append(slices.Clip(opts), client.DisableReadYourWritesConsistency)
		}
		return b.Client.Get(ctx, key, obj, opts...)
	})
	if isHidden && err == nil { // the cache shows the object now
		if object, err := of(); err == nil {
			b.hidden.Remove(object)
		}
	}
	return err
}

func (b *bounded) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	of := func() (hidden, error) {
		gvk, err := apiutil.GVKForObject(list, b.Scheme())
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
		_, untyped := list.(runtime.Unstructured)
		return hidden{Kind: kinds.Kind{GVK: gvk, Untyped: untyped}}, err
	}
	_, err := b.read(ctx, of, func(ctx context.Context, wait bool) error {
		if !wait {
			opts = append(slices.Clip(opts), client.DisableReadYourWritesConsistency)
		}
		return b.Client.List(ctx, list, opts...)
	})
	return err
}

// read calls a read of something, and calls it again without a wait if it waits too long. It reports whether what it reads is hidden.
func (b *bounded) read(
	ctx context.Context, of func() (hidden, error), read func(ctx context.Context, wait bool) error,
) (isHidden bool, err error) {
	limit := maxWait
	if b.hidden.Len() > 0 {
		if object, err := of(); err == nil {
			if _, isHidden = b.hidden.Get(object); isHidden {
				return true, read(ctx, false)
			}
			if b.hidden.Contains(hidden{Kind: object.Kind}) {
				limit = shortWait
			}
		}
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = read(limited, true)
	if err == nil || ctx.Err() != nil {
		return false, err
	}
	if limited.Err() == nil && !strings.Contains(err.Error(), beyondDeadline) {
		return false, err
	}
	if strings.HasPrefix(err.Error(), behind) { // otherwise the read waits for its own request, another write, or the kind's cache
		if object, err := of(); err == nil {
			b.hidden.Add(object, struct{}{})
			b.hidden.Add(hidden{Kind: object.Kind}, struct{}{})
			log.FromContext(ctx).Info("the cache doesn't show an object that the program has written; does a filter of the cache hide it?",
				"kind", object.GVK.GroupKind().String(), "namespace", object.Namespace, "name", object.Name, "waited", limit.String())
		}
	}
	return false, read(ctx, false)
}
