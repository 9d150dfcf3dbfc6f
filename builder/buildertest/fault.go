package buildertest

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault is an error that calls get. Empty fields match any call.
type Fault struct {
	Verb        Verb
	Kind        schema.GroupKind
	Namespace   string
	Name        string
	Subresource string

	// After is how many matching calls go well first. Default: none.
	After int
	// Times is how many matching calls fail then. Default, 0: all.
	Times int
	// AfterWrite lets the call be done and only its answer be lost. Default: nothing is done.
	AfterWrite bool
	// Error makes the error. Required; see [Conflict] and the others.
	Error func(Call) error
}

// fault is a Fault and how often it has matched.
type fault struct {
	Fault
	seen int
}

// Fail lets calls of this client fail. Of several faults that match a call, the first one counts.
func (c *Client) Fail(faults ...Fault) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, f := range faults {
		c.faults = append(c.faults, &fault{Fault: f})
	}
}

// Heal takes all faults away. A crash is not healed.
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

// Conflict is what a write gets whose object someone else has changed.
func Conflict(c Call) error {
	return apierrors.NewConflict(c.resource(), c.Name, errors.New(optimisticLock))
}

// Timeout is what a call gets that took the server too long.
func Timeout(c Call) error {
	return apierrors.NewTimeoutError(fmt.Sprintf("request did not complete within the allotted timeout: %s", c.Verb), 0)
}

// Internal is what a call gets when the server fails.
func Internal(c Call) error {
	return apierrors.NewInternalError(fmt.Errorf("%s %s %s: etcdserver: leader changed", c.Verb, c.Kind.Kind, c.Name))
}

// TooManyRequests is what a call gets when the server is overloaded.
func TooManyRequests(Call) error {
	return apierrors.NewTooManyRequests("the server is overloaded", 1)
}

// Forbidden is what a call gets that RBAC does not allow.
func Forbidden(c Call) error {
	return apierrors.NewForbidden(c.resource(), c.Name, fmt.Errorf("user %q cannot %s resource %q in API group %q in the namespace %q",
		c.Client, c.Verb, c.Kind.Kind, c.Kind.Group, c.Namespace))
}

// QuotaExceeded is what a create gets when a ResourceQuota is full.
func QuotaExceeded(c Call) error {
	return apierrors.NewForbidden(c.resource(), c.Name, fmt.Errorf("exceeded quota: quota, requested: count/%s=1, used: count/%[1]s=1, limited: count/%[1]s=1",
		c.Kind.Kind))
}

// WebhookDenied is what a write gets that an admission webhook refuses.
func WebhookDenied(c Call) error {
	err := apierrors.NewForbidden(c.resource(), c.Name, errors.New(""))
	err.ErrStatus.Message = `admission webhook "deny.example.com" denied the request: no`
	return err
}
