package buildertest

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault makes calls fail. Empty fields match any call.
type Fault struct {
	Verb        Verb
	Kind        schema.GroupKind
	Namespace   string
	Name        string
	Subresource string

	// After is the number of matching calls that succeed first. Default: 0.
	After int
	// Times is the number of matching calls that fail then. Default: 0, all.
	Times int
	// AfterWrite makes the call succeed and loses only its reply. Default: false, the call has no effect.
	AfterWrite bool
	// Error returns the error of a call; see [Conflict] and the like. Default: [Internal].
	Error func(Call) error
}

// fault is a Fault and its number of matches.
type fault struct {
	Fault
	seen int
}

// Fail makes calls of this client fail. If several faults match a call, the first one counts.
func (c *Client) Fail(faults ...Fault) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, f := range faults {
		c.faults = append(c.faults, &fault{Fault: f})
	}
}

// Heal removes all faults, except a crash.
func (c *Client) Heal() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.faults, c.drops = nil, nil
}

func (c *Client) faultFor(call Call) *fault {
	for _, f := range c.faults {
		if f.matches(call) {
			f.seen++
			if f.seen > f.After && (f.Times == 0 || f.seen <= f.After+f.Times) {
				return f
			}
		}
	}
	return nil
}

func (f *Fault) matches(call Call) bool {
	return (f.Verb == "" || f.Verb == call.Verb) &&
		(f.Kind.Empty() || f.Kind == call.Kind) &&
		(f.Namespace == "" || f.Namespace == call.Namespace) &&
		(f.Name == "" || f.Name == call.Name) &&
		(f.Subresource == "" || f.Subresource == call.Subresource)
}

func (f *Fault) error(call Call) error {
	if f.Error == nil {
		return Internal(call)
	}
	return f.Error(call)
}

func (c Call) resource() schema.GroupResource {
	return schema.GroupResource{Group: c.Kind.Group, Resource: c.Kind.Kind}
}

// Conflict returns the error of a write whose object another writer has changed.
func Conflict(c Call) error {
	return apierrors.NewConflict(c.resource(), c.Name, errors.New(optimisticLock))
}

// Timeout returns the error of a call that the server did not finish in time.
func Timeout(c Call) error {
	return apierrors.NewTimeoutError(fmt.Sprintf("request did not complete within the allotted timeout: %s", c.Verb), 0)
}

// Internal returns the error of a failing server.
func Internal(c Call) error {
	return apierrors.NewInternalError(fmt.Errorf("%s %s %s: etcdserver: leader changed", c.Verb, c.Kind.Kind, c.Name))
}

// TooManyRequests returns the error of an overloaded server.
func TooManyRequests(Call) error {
	return apierrors.NewTooManyRequests("the server is overloaded", 1)
}

// Forbidden returns the error of a call that RBAC doesn't allow.
func Forbidden(c Call) error {
	return apierrors.NewForbidden(c.resource(), c.Name, fmt.Errorf("user %q cannot %s resource %q in API group %q in the namespace %q",
		c.Client, c.Verb, c.Kind.Kind, c.Kind.Group, c.Namespace))
}

// QuotaExceeded returns the error of a create that would exceed a ResourceQuota.
func QuotaExceeded(c Call) error {
	return apierrors.NewForbidden(c.resource(), c.Name,
		fmt.Errorf("exceeded quota: quota, requested: count/%s=1, used: count/%[1]s=1, limited: count/%[1]s=1", c.Kind.Kind))
}

// WebhookDenied returns the error of a write that an admission webhook denies.
func WebhookDenied(c Call) error {
	err := apierrors.NewForbidden(c.resource(), c.Name, errors.New(""))
	err.ErrStatus.Message = `admission webhook "deny.example.com" denied the request: no`
	return err
}
