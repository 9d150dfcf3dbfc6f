package buildertest

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DefaultName is the default name of a client.
const DefaultName = "buildertest"

// Client is a client of a Server, as one process has it, with its own faults, its own view of the state, and its own record of calls.
// It is a client.WithWatch and a client.FieldIndexer, and safe for concurrent use.
type Client struct {
	server *Server
	name   string
	ledger *Ledger

	// The server's lock guards all of these.
	crash   crash
	faults  []*fault
	view    view
	indexes indexes
	drops   []func(Event) bool
	events  []RecordedEvent
	atOnce  int        // requests of a pass; 0: the builder's default
	written func(Call) // called after each successful write, with the lock; nil: none
	role    *role      // the permissions; nil: all
}

var (
	_ client.WithWatch    = &Client{}
	_ client.FieldIndexer = &Client{}
)

func newClient(s *Server, name string) *Client {
	if name == "" {
		name = DefaultName
	}
	return &Client{server: s, name: name, ledger: &Ledger{}, indexes: indexes{}, view: newView(s.version)}
}

// Server returns the client's server.
func (c *Client) Server() *Server { return c.server }

// Ledger returns the record of this client's calls.
func (c *Client) Ledger() *Ledger { return c.ledger }

// Now returns the server's time. Use it as the clock of the code that runs on this client.
func (c *Client) Now() time.Time { return c.server.clock.Now() }

// Create implements client.Writer.
func (c *Client) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	o := (&client.CreateOptions{}).ApplyOptions(opts)
	r, err := c.request(VerbCreate, obj, client.ObjectKeyFromObject(obj))
	if err != nil {
		return err
	}
	r.manager, r.DryRun = o.FieldManager, isDryRun(o.DryRun)
	return c.answer(ctx, r, obj, func() (client.Object, error) { return c.server.create(r, obj) })
}

// Update implements client.Writer.
func (c *Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	o := (&client.UpdateOptions{}).ApplyOptions(opts)
	return c.update(ctx, obj, obj, "", o.FieldManager, o.DryRun)
}

func (c *Client) update(ctx context.Context, obj, body client.Object, subresource, manager string, dryRun []string) error {
	r, err := c.request(VerbUpdate, obj, client.ObjectKeyFromObject(obj))
	if err != nil {
		return err
	}
	r.Subresource, r.manager, r.DryRun = subresource, manager, isDryRun(dryRun)
	if err := errors.Join(r.checkKey(), r.checkSubresource()); err != nil {
		return err
	}
	return c.answer(ctx, r, body, func() (client.Object, error) { return c.server.update(r, body) })
}

// Patch implements client.Writer.
func (c *Client) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	o := (&client.PatchOptions{}).ApplyOptions(opts)
	return c.patch(ctx, obj, obj, patch, "", o)
}

func (c *Client) patch(ctx context.Context, obj, body client.Object, patch client.Patch, subresource string, o *client.PatchOptions) error {
	data, err := patch.Data(body)
	if err != nil {
		return err
	}
	verb := VerbPatch
	if patch.Type() == types.ApplyPatchType {
		verb = VerbApply
	}
	r, err := c.request(verb, obj, client.ObjectKeyFromObject(obj))
	if err != nil {
		return err
	}
	r.Subresource, r.manager, r.DryRun = subresource, o.FieldManager, isDryRun(o.DryRun)
	if err := errors.Join(r.checkKey(), r.checkSubresource(), checkPatchOptions(patch.Type(), o.FieldManager, o.Force)); err != nil {
		return err
	}
	r.force = o.Force != nil && *o.Force
	return c.answer(ctx, r, body, func() (client.Object, error) { return c.server.patch(r, patch.Type(), data) })
}

func checkPatchOptions(kind types.PatchType, manager string, force *bool) error {
	var errs field.ErrorList
	switch {
	case kind == types.ApplyPatchType && manager == "":
		errs = append(errs, field.Required(field.NewPath("fieldManager"), "is required for apply patch"))
	case kind != types.ApplyPatchType && force != nil:
		errs = append(errs, field.Forbidden(field.NewPath("force"), "may not be specified for non-apply patch"))
	default:
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "", errs)
}

// Apply implements client.Writer.
func (c *Client) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	o := (&client.ApplyOptions{}).ApplyOptions(opts)
	return c.apply(ctx, obj, "", o.FieldManager, o.Force, o.DryRun)
}

func (c *Client) apply(ctx context.Context, obj any, subresource, manager string, force *bool, dryRun []string) error {
	content, err := asMap(obj)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: content}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	o := &client.PatchOptions{FieldManager: manager, Force: force, DryRun: dryRun}
	if err := c.patch(ctx, u, u, client.RawPatch(types.ApplyPatchType, body), subresource, o); err != nil {
		return err
	}
	answer, err := json.Marshal(u.Object)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, obj)
}

// Delete implements client.Writer.
func (c *Client) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	o := (&client.DeleteOptions{}).ApplyOptions(opts)
	r, err := c.request(VerbDelete, obj, client.ObjectKeyFromObject(obj))
	if err != nil {
		return err
	}
	r.DryRun = isDryRun(o.DryRun)
	if err := r.checkKey(); err != nil {
		return err
	}
	_, err = c.call(ctx, r, func() (client.Object, error) { return c.server.delete(r, o) })
	return err
}

// DeleteAllOf implements client.Writer.
func (c *Client) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	o := (&client.DeleteAllOfOptions{}).ApplyOptions(opts)
	r, err := c.request(VerbDeleteCollection, obj, types.NamespacedName{Namespace: o.Namespace})
	if err != nil {
		return err
	}
	r.DryRun = isDryRun(o.DryRun)
	_, err = c.call(ctx, r, func() (client.Object, error) {
		objs, err := c.selected(r.kind, c.server.version, &o.ListOptions)
		if err != nil {
			return nil, err
		}
		for _, obj := range objs {
			one := newRequest(r.Verb, r.kind, client.ObjectKeyFromObject(obj))
			one.Client, one.DryRun, one.UID = r.Client, r.DryRun, obj.GetUID()
			if _, err := c.server.delete(one, &o.DeleteOptions); err != nil {
				return nil, err
			}
			if one.Changed {
				r.Changed = true
				r.deleted = append(r.deleted, one.Call)
			}
		}
		return nil, nil
	})
	return err
}

// Scheme implements client.Client.
func (c *Client) Scheme() *runtime.Scheme { return c.server.scheme }

// RESTMapper implements client.Client.
func (c *Client) RESTMapper() meta.RESTMapper { return c.server.kinds.restMapper() }

// GroupVersionKindFor implements client.Client.
func (c *Client) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	k, err := c.server.kinds.of(obj)
	return k.gvk, err
}

// IsObjectNamespaced implements client.Client.
func (c *Client) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	k, err := c.server.kinds.of(obj)
	return k.namespaced, err
}
