package revision

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Objects are the ControllerRevisions of one owner, in which a controller keeps its records.
type Objects struct {
	Client client.Writer
	// Live reads past the cache, so that the program needs neither to list nor to watch ControllerRevisions.
	Live client.Reader
	// Controller is the field manager. Two controllers can work for one owner.
	Controller string
	Owner      client.Object
	OwnerKind  schema.GroupVersionKind
}

// Key returns the key of the object of a name.
func (o *Objects) Key(name string) store.Key {
	return store.KeyOf(appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), o.Owner.GetNamespace(), name)
}

// New returns an object to create. The annotation says what it records.
func (o *Objects) New(name string, data []byte, annotation, value string, number int64) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Owner.GetNamespace(), Name: name,
			Labels:          map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy},
			Annotations:     map[string]string{annotation: value},
			OwnerReferences: []metav1.OwnerReference{inventory.ControllerReference(o.Owner, o.OwnerKind)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}
}

// Find reads an object past the cache; nil if there is none. It may be another owner's.
func (o *Objects) Find(ctx context.Context, name string) (*appsv1.ControllerRevision, error) {
	key, found := o.Key(name), &appsv1.ControllerRevision{}
	err := o.Live.Get(ctx, key.NamespacedName(), found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Error{Key: key, Operation: "read", Err: err}
	}
	return found, nil
}

// IsOthers reports whether the owner doesn't own an object.
func (o *Objects) IsOthers(object *appsv1.ControllerRevision) bool {
	return !metav1.IsControlledBy(object, o.Owner) && !inventory.IsOfPredecessor(object, o.Owner, o.OwnerKind)
}

// Conflict returns the error about an object that can't be created because one of its name exists, or did: the next pass observes it.
func (o *Objects) Conflict(name string, exists error) error {
	resource := schema.GroupResource{Group: appsv1.GroupName, Resource: "controllerrevisions"}
	return &failure.Error{Key: o.Key(name), Operation: "create", Err: apierrors.NewConflict(resource, name, exists)}
}
