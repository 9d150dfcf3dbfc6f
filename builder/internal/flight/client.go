package flight

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client is a client that adds its writes to the pass of their context. Its reads come from a cache and are no requests.
type Client struct{ client.Client }

// Create creates an object.
func (c Client) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	dry := isDry((&client.CreateOptions{}).ApplyOptions(opts).DryRun)
	return note(ctx, Request{Verb: "create", Object: obj, DryRun: dry}, func() error { return c.Client.Create(ctx, obj, opts...) })
}

// Update replaces an object.
func (c Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	dry := isDry((&client.UpdateOptions{}).ApplyOptions(opts).DryRun)
	return note(ctx, Request{Verb: "update", Object: obj, DryRun: dry}, func() error { return c.Client.Update(ctx, obj, opts...) })
}

// Patch changes an object.
func (c Client) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	dry := isDry((&client.PatchOptions{}).ApplyOptions(opts).DryRun)
	return note(ctx, Request{Verb: verbOf(patch), Object: obj, DryRun: dry}, func() error { return c.Client.Patch(ctx, obj, patch, opts...) })
}

// Delete deletes an object.
func (c Client) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	dry := isDry((&client.DeleteOptions{}).ApplyOptions(opts).DryRun)
	return note(ctx, Request{Verb: "delete", Object: obj, DryRun: dry}, func() error { return c.Client.Delete(ctx, obj, opts...) })
}

// Status returns the client of the status.
func (c Client) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource returns the client of a subresource.
func (c Client) SubResource(name string) client.SubResourceClient {
	return subresource{c.Client.SubResource(name), name}
}

type subresource struct {
	client.SubResourceClient
	name string
}

func (s subresource) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	dry := isDry((&client.SubResourcePatchOptions{}).ApplyOptions(opts).DryRun)
	return note(ctx, Request{Verb: verbOf(patch), Object: obj, Subresource: s.name, DryRun: dry}, func() error {
		return s.SubResourceClient.Patch(ctx, obj, patch, opts...)
	})
}

func isDry(dryRun []string) bool { return len(dryRun) > 0 }

func verbOf(patch client.Patch) string {
	if patch.Type() == types.ApplyPatchType {
		return "apply"
	}
	return "patch"
}

// Reader reads from the API server, and adds its reads to the pass of their context.
type Reader struct{ client.Reader }

// Get reads an object.
func (r Reader) Get(ctx context.Context, name client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	named := obj.DeepCopyObject().(client.Object) // the answer may have no name
	named.SetNamespace(name.Namespace)
	named.SetName(name.Name)
	return note(ctx, Request{Verb: "get", Object: named}, func() error { return r.Reader.Get(ctx, name, obj, opts...) })
}

// List lists objects.
func (r Reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return note(ctx, Request{Verb: "list", List: list}, func() error { return r.Reader.List(ctx, list, opts...) })
}
