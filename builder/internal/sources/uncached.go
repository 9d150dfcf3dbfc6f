package sources

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// Uncached returns a client that reads some kinds past the cache. After a write of such a kind no read waits for the cache, because
// that would list and watch the kind.
func Uncached(c client.Client, live Reader, named ...NamedKind) client.Client {
	of := map[kinds.Kind]bool{}
	for _, k := range named {
		of[k.Kind] = true
	}
	return uncached{c, live, of}
}

type uncached struct {
	client.Client
	live Reader
	of   map[kinds.Kind]bool
}

func (c uncached) has(obj client.Object) bool {
	k, err := c.live.Kinds.Of(obj)
	return err == nil && c.of[k]
}

func (c uncached) Get(ctx context.Context, key types.NamespacedName, obj client.Object, opts ...client.GetOption) error {
	if c.has(obj) {
		return c.live.From.Get(ctx, key, obj, opts...)
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

func (c uncached) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if c.has(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Create(ctx, obj, opts...)
}

func (c uncached) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if c.has(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c uncached) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if c.has(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Delete(ctx, obj, opts...)
}
