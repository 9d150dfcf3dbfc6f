package buildertest

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subresource is a client of one subresource. The server imitates the status, patches of the scale of workloads, and the binding of pods.
type subresource struct {
	client *Client
	name   string
}

// Status implements client.StatusClient.
func (c *Client) Status() client.SubResourceWriter { return subresource{c, "status"} }

// SubResource implements client.SubResourceClientConstructor. The server imitates "status", patches of "scale", and "binding"; for others
// it returns NotFound.
func (c *Client) SubResource(name string) client.SubResourceClient { return subresource{c, name} }

// checkSubresource refuses a subresource that the kind doesn't have.
func (r *request) checkSubresource() error {
	if r.Subresource == "" || (r.Subresource == "status" && r.kind.status) {
		return nil
	}
	if !r.kind.builtin {
		return r.kind.notFound(r.Name)
	}
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)
}

func (s subresource) refuse(verb Verb, obj client.Object) error {
	r, err := s.client.request(verb, obj, client.ObjectKeyFromObject(obj))
	if err != nil {
		return err
	}
	r.Subresource = s.name + "/"
	return r.checkSubresource()
}

// Get reads the object past the cache, as a manager's client does. For the status it returns the whole object.
func (s subresource) Get(ctx context.Context, obj, into client.Object, _ ...client.SubResourceGetOption) error {
	r, err := s.client.request(VerbGet, obj, client.ObjectKeyFromObject(obj))
	if err != nil {
		return err
	}
	r.Subresource, r.live = s.name, true
	if err := r.checkSubresource(); err != nil {
		return err
	}
	return s.client.get(ctx, r, into)
}

// Create binds a pod to a node. For the status it returns an error, because a status can't be created without its object.
func (s subresource) Create(ctx context.Context, obj, body client.Object, _ ...client.SubResourceCreateOption) error {
	if binding, ok := body.(*corev1.Binding); ok && s.name == "binding" {
		return s.client.bind(ctx, obj, binding)
	}
	return s.refuse(VerbCreate, obj)
}

func (s subresource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	o := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
	body := obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	return s.client.update(ctx, obj, body, s.name, o.FieldManager, o.DryRun)
}

func (s subresource) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	o := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
	body := obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	if s.name == "scale" && replicasOf(obj) != nil {
		return s.client.patchScale(ctx, obj, body, patch, &o.PatchOptions)
	}
	return s.client.patch(ctx, obj, body, patch, s.name, &o.PatchOptions)
}

func (s subresource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	o := (&client.SubResourceApplyOptions{}).ApplyOpts(opts)
	return s.client.apply(ctx, obj, s.name, o.FieldManager, o.Force, o.DryRun)
}
