package buildertest

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// call makes a call, with the client's faults, and records it. A call of an ended context doesn't reach the server; a cache answers it.
func (c *Client) call(ctx context.Context, r *request, do func() (client.Object, error)) (client.Object, error) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Client = c.name
	if r.manager == "" {
		r.manager = c.name
	}
	if c.crash.dead {
		return nil, c.die()
	}
	if err := ctx.Err(); err != nil && !r.isCached() {
		return nil, fmt.Errorf("%s: %w", r.Call, err)
	}
	if c.role != nil && r.Namespace != OutsideNamespace {
		if err := c.role.check(r, s.get(r.kind, r.key()) == nil); err != nil {
			c.record(r, nil, err)
			return nil, err
		}
	}
	f := c.faultFor(r.Call)
	if f != nil && !f.AfterWrite {
		err := f.error(r.Call)
		c.record(r, nil, err)
		return nil, err
	}
	obj, err := do()
	written := err == nil && r.Verb.IsWrite() && !r.DryRun
	if written {
		c.wrote(r)
		if c.crash.count() && c.crash.losing {
			err = ErrCrashed
		}
	}
	if f != nil && err == nil {
		err = f.error(r.Call)
	}
	c.record(r, obj, err)
	if r.Changed && !r.DryRun && !s.manual && s.leavesGarbage(r, obj) {
		s.collect()
	}
	if c.written != nil && written {
		c.written(r.Call)
	}
	if errors.Is(err, ErrCrashed) {
		return nil, c.die()
	}
	return obj, err
}

// leavesGarbage reports whether a call may have left garbage: it deletes, or it writes an object that terminates or that names an owner
// that isn't there.
func (s *Server) leavesGarbage(r *request, obj client.Object) bool {
	switch {
	case r.Verb == VerbDelete || r.Verb == VerbDeleteCollection:
		return true
	case obj == nil:
		return false
	default:
		return obj.GetDeletionTimestamp() != nil || s.lacksOwner(r.kind, obj)
	}
}

func (c *Client) record(r *request, obj client.Object, err error) {
	c.server.record(r, obj, err)
	c.ledger.add(r.Call)
}

// request starts a request about an object.
func (c *Client) request(verb Verb, obj runtime.Object, key types.NamespacedName) (*request, error) {
	k, err := c.server.kinds.of(obj)
	if err != nil {
		return nil, err
	}
	return newRequest(verb, k, key), nil
}

func newRequest(verb Verb, k kind, key types.NamespacedName) *request {
	if !k.namespaced {
		key.Namespace = ""
	}
	return &request{kind: k, Call: Call{Verb: verb, Kind: k.gvk.GroupKind(), Namespace: key.Namespace, Name: key.Name}}
}

// checkKey refuses an object that a REST client would not send.
func (r *request) checkKey() error {
	switch {
	case r.Name == "":
		return errors.New("resource name may not be empty")
	case r.kind.namespaced && r.Namespace == "":
		return errors.New("an empty namespace may not be set when a resource name is provided")
	}
	return nil
}

// answer makes a call and decodes the reply into the caller's object.
func (c *Client) answer(ctx context.Context, r *request, into client.Object, do func() (client.Object, error)) error {
	obj, err := c.call(ctx, r, do)
	if err != nil {
		return err
	}
	return c.server.encode(obj, r.kind.gvk, into)
}
