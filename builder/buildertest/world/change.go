package world

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Verb is what a [Change] does with its object.
type Verb string

// The verbs. VerbBind sets the node of a pod.
const (
	VerbCreate       Verb = "create"
	VerbUpdate       Verb = "update"
	VerbUpdateStatus Verb = "update the status of"
	VerbBind         Verb = "bind"
	VerbDelete       Verb = "delete"
)

// Change is one write that a controller makes next. An update with a resource version fails if the object has changed since.
type Change struct {
	Verb   Verb
	Object client.Object
	// Node is the node of VerbBind.
	Node string
	// Options are the options of VerbDelete. The object's UID is always a precondition.
	Options []client.DeleteOption

	owner     *metav1.OwnerReference // the controller of an object that doesn't name it; nil: the object's own
	readsMore bool                   // it depends on more than the object and what that controls
}

// controllerRef names the workload for which the change is.
func (c Change) controllerRef() *metav1.OwnerReference {
	if c.owner != nil {
		return c.owner
	}
	return metav1.GetControllerOfNoCopy(c.Object)
}

func create(obj client.Object) Change       { return Change{Verb: VerbCreate, Object: obj} }
func update(obj client.Object) Change       { return Change{Verb: VerbUpdate, Object: obj} }
func updateStatus(obj client.Object) Change { return Change{Verb: VerbUpdateStatus, Object: obj} }

func remove(obj client.Object, options ...client.DeleteOption) Change {
	return Change{Verb: VerbDelete, Object: obj, Options: options}
}

// apply makes the change with a client.
func (c Change) apply(ctx context.Context, with client.Client) error {
	obj := c.Object.DeepCopyObject().(client.Object)
	switch c.Verb {
	case VerbCreate:
		return with.Create(ctx, obj)
	case VerbUpdate:
		return with.Update(ctx, obj)
	case VerbUpdateStatus:
		return with.Status().Update(ctx, obj)
	case VerbBind:
		binding := &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()},
			Target:     corev1.ObjectReference{Kind: "Node", Name: c.Node},
		}
		return with.SubResource("binding").Create(ctx, obj, binding)
	case VerbDelete:
		return with.Delete(ctx, obj, append([]client.DeleteOption{client.Preconditions{UID: new(obj.GetUID())}}, c.Options...)...)
	default:
		return fmt.Errorf("unknown verb %q of a change; use a constant of package world", c.Verb)
	}
}
