package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/builder"
)

// CommonBuilder is the common part of all items of a Builder: an object, its owner, and the client to write it with. Its methods
// handle that one object, and write events with the given recorder.
type CommonBuilder struct {
	// ObjectMeta is the object's metadata. Items may share its maps and slices; the Builder never writes to them.
	ObjectMeta metav1.ObjectMeta
	// Client reads and writes. Default, for an item of a Builder: the store's.
	Client client.Client
	// OwnerRef names the owner. It may be empty if CrObject is set.
	OwnerRef metav1.OwnerReference
	// CrObject is the owner as read from the API server. Events are about it. If its UID differs from that of OwnerRef, OwnerRef counts.
	CrObject client.Object
	// DesiredState is the object that Create, Update, CreateOrUpdate and Delete handle. They don't change it.
	DesiredState client.Object
	// CurrentState receives the object that Get read, or that CreateOrUpdate read before its write.
	CurrentState client.Object
	// ObjectList receives the result of List.
	ObjectList client.ObjectList
	// Labels limit the objects of List, and those that a store prunes.
	Labels map[string]string
}

// Create creates DesiredState as a child of the owner. It fails with AlreadyExists if an object of its name exists.
func (b *CommonBuilder) Create(ctx context.Context, buildRecorder BuilderRecorder) (controllerutil.OperationResult, error) {
	return b.write("create", buildRecorder, func(pass *builder.Builder) (builder.Result, error) {
		return pass.Create(contextOr(ctx), b.DesiredState)
	})
}

// Update applies DesiredState to the owner's child of its name. Fields that DesiredState leaves empty keep the values of other
// writers. It fails with NotFound if the child doesn't exist.
func (b *CommonBuilder) Update(ctx context.Context, buildRecorder BuilderRecorder) (controllerutil.OperationResult, error) {
	return b.write("update", buildRecorder, func(pass *builder.Builder) (builder.Result, error) {
		return pass.Update(contextOr(ctx), b.DesiredState)
	})
}

// CreateOrUpdate creates the owner's child or applies DesiredState to it. A child that is up to date costs no request.
func (b *CommonBuilder) CreateOrUpdate(ctx context.Context, buildRecorder BuilderRecorder) (controllerutil.OperationResult, error) {
	if !isNil(b.CurrentState) && !isNil(b.DesiredState) && !isNil(b.Client) {
		err := b.Client.Get(contextOr(ctx), client.ObjectKeyFromObject(b.DesiredState), b.CurrentState)
		if client.IgnoreNotFound(err) != nil {
			return controllerutil.OperationResultNone, err
		}
	}
	return b.write("create or update", buildRecorder, func(pass *builder.Builder) (builder.Result, error) {
		return pass.Object(b.DesiredState).Reconcile(contextOr(ctx))
	})
}

// Delete deletes the owner's child that has the kind and name of DesiredState. Its result is OperationResultUpdated if the child
// existed. It leaves an object that the owner doesn't control unchanged and returns builder.ErrNotOwned.
func (b *CommonBuilder) Delete(ctx context.Context, buildRecorder BuilderRecorder) (controllerutil.OperationResult, error) {
	return b.write("delete", buildRecorder, func(pass *builder.Builder) (builder.Result, error) {
		return pass.Delete(contextOr(ctx), b.DesiredState)
	})
}

// write runs one pass over the owner and emits its events.
func (b *CommonBuilder) write(
	what string, recorder BuilderRecorder, do func(*builder.Builder) (builder.Result, error),
) (controllerutil.OperationResult, error) {
	engine, owner, err := b.engineAndOwner()
	if err != nil {
		return controllerutil.OperationResultNone, err
	}
	res, err := do(engine.For(owner))
	if !isNil(b.DesiredState) {
		what = fmt.Sprintf("%s %T %s", what, b.DesiredState, client.ObjectKeyFromObject(b.DesiredState))
	}
	recorder.emit(owner, what, res, err)
	return resultOf(res), errors.Join(err, waiting(res))
}

// Get reads the object that ObjectMeta names into CurrentState, also if another owner controls it.
func (b *CommonBuilder) Get(ctx context.Context, _ BuilderRecorder) (client.Object, error) {
	if isNil(b.Client) || isNil(b.CurrentState) {
		return nil, errors.New("get: Client and CurrentState (an empty object of the kind to read) must be set")
	}
	key := client.ObjectKey{Namespace: b.ObjectMeta.Namespace, Name: b.ObjectMeta.Name}
	if err := b.Client.Get(contextOr(ctx), key, b.CurrentState); err != nil {
		return nil, err
	}
	return b.CurrentState, nil
}

// List reads all objects of the list's kind that are in the namespace of ObjectMeta and have Labels into ObjectList, also those that
// other owners control.
func (b *CommonBuilder) List(ctx context.Context, _ BuilderRecorder) (client.ObjectList, error) {
	if isNil(b.Client) || isNil(b.ObjectList) {
		return nil, errors.New("list: Client and ObjectList (an empty list of the kind to read) must be set")
	}
	err := b.Client.List(contextOr(ctx), b.ObjectList, client.InNamespace(b.ObjectMeta.Namespace), client.MatchingLabels(b.Labels))
	if err != nil {
		return nil, err
	}
	return b.ObjectList, nil
}

func (b *CommonBuilder) engineAndOwner() (*builder.Engine, client.Object, error) {
	if isNil(b.Client) {
		return nil, nil, errors.New("CommonBuilder.Client is nil")
	}
	owner, err := b.owner()
	if err != nil {
		return nil, nil, err
	}
	return engines.of(b.Client), owner, nil
}

// owner returns the object's owner: CrObject, or an object with the identity that OwnerRef has.
func (b *CommonBuilder) owner() (client.Object, error) {
	ref := b.OwnerRef
	if !isNil(b.CrObject) && (ref.UID == "" || ref.UID == b.CrObject.GetUID()) {
		return b.CrObject, nil
	}
	if ref.UID == "" || ref.Name == "" || ref.Kind == "" || ref.APIVersion == "" {
		return nil, fmt.Errorf("no owner: set CommonBuilder.CrObject, or apiVersion, kind, name and UID of OwnerRef (%s %s has UID %q)",
			ref.Kind, ref.Name, ref.UID)
	}
	owner := &unstructured.Unstructured{}
	owner.SetAPIVersion(ref.APIVersion)
	owner.SetKind(ref.Kind)
	owner.SetNamespace(b.ObjectMeta.Namespace) // an owner is in its children's namespace
	owner.SetName(ref.Name)
	owner.SetUID(ref.UID)
	return owner, nil
}

// isNil reports whether a value is a nil interface, or an interface with a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}
