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
	all := map[kinds.Kind]bool{}
	for _, k := range named {
		all[k.Kind] = true
	}
	isNamed := func(obj client.Object) bool {
		k, err := live.Kinds.Of(obj)
		return err == nil && all[k]
	}
	return uncached{unawaited{c, isNamed}, live.From}
}

type uncached struct {
	unawaited
	live client.Reader
}

func (c uncached) Get(ctx context.Context, key types.NamespacedName, obj client.Object, opts ...client.GetOption) error {
	if c.of(obj) {
		return c.live.Get(ctx, key, obj, opts...)
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

// Unawaited returns a client after whose writes no read waits for the cache.
func Unawaited(c client.Client) client.Client {
	return unawaited{c, func(client.Object) bool { return true }}
}

// unawaited doesn't wait for the cache after writes of some objects.
type unawaited struct {
	client.Client
	of func(client.Object) bool
}

func (c unawaited) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if c.of(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Create(ctx, obj, opts...)
}

func (c unawaited) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if c.of(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c unawaited) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if c.of(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Delete(ctx, obj, opts...)
}

func (c unawaited) SubResource(name string) client.SubResourceClient {
	return unawaitedSubResource{c.Client.SubResource(name), c.of}
}

type unawaitedSubResource struct {
	client.SubResourceClient
	of func(client.Object) bool
}

func (c unawaitedSubResource) Patch(
	ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
) error {
	if c.of(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.SubResourceClient.Patch(ctx, obj, patch, opts...)
}
