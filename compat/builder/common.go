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

// CommonBuilder is what all items of a Builder have in common: an object, its owner, and the client to write it with.
// Its methods handle that one object, and write events with the recorder that they are given.
type CommonBuilder struct {
	// ObjectMeta is the object's. Its maps and slices may be shared between items; they are never written to.
	ObjectMeta metav1.ObjectMeta
	// Client reads and writes. In an item it may be nil: then it is the store's.
	Client client.Client
	// OwnerRef names the owner. It may be left empty if CrObject is set.
	OwnerRef metav1.OwnerReference
	// CrObject is the owner as read from the API server: events are about it. If its UID isn't that of OwnerRef, then
	// OwnerRef is right.
	CrObject client.Object
	// DesiredState is the object that Create, Update, CreateOrUpdate and Delete handle. It is not changed.
	DesiredState client.Object
	// CurrentState receives what Get, and CreateOrUpdate before it writes, found.
	CurrentState client.Object
	// ObjectList receives what List found.
	ObjectList client.ObjectList
	// Labels narrow List, and what a store prunes.
	Labels map[string]string
}

// Create makes DesiredState a child of the owner. It fails with AlreadyExists if there is an object of its name.
func (b *CommonBuilder) Create(ctx context.Context, buildRecorder BuilderRecorder) (controllerutil.OperationResult, error) {
	return b.write("create", buildRecorder, func(pass *builder.Builder) (builder.Result, error) {
		return pass.Create(contextOr(ctx), b.DesiredState)
	})
}

// Update applies DesiredState to the owner's child of its name. Fields that DesiredState leaves empty stay as others set
// them. It fails with NotFound if there is no such child.
func (b *CommonBuilder) Update(ctx context.Context, buildRecorder BuilderRecorder) (controllerutil.OperationResult, error) {
	return b.write("update", buildRecorder, func(pass *builder.Builder) (builder.Result, error) {
		return pass.Update(contextOr(ctx), b.DesiredState)
	})
}

// CreateOrUpdate makes the owner's child as DesiredState says. A child that is like that already costs no request.
func (b *CommonBuilder) CreateOrUpdate(ctx context.Context, buildRecorder BuilderRecorder) (controllerutil.OperationResult, error) {
	if !isNil(b.CurrentState) && !isNil(b.DesiredState) && !isNil(b.Client) {
		err := b.Client.Get(contextOr(ctx), client.ObjectKeyFromObject(b.DesiredState), b.CurrentState)
		if client.IgnoreNotFound(err) != nil {
			return controllerutil.OperationResultNone, err
		}
	}
	return b.write("create or update", buildRecorder, func(pass *builder.Builder) (builder.Result, error) {
		return pass.CreateOrUpdate(contextOr(ctx), b.DesiredState)
	})
}

// Delete deletes the owner's child that has the kind and name of DesiredState. Its result is OperationResultUpdated if
// there was one. An object of someone else's is left alone; that is an error, builder.ErrNotOwned.
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

// Get reads the object that ObjectMeta names into CurrentState, whoever's it is.
func (b *CommonBuilder) Get(ctx context.Context, _ BuilderRecorder) (client.Object, error) {
	if isNil(b.Client) || isNil(b.CurrentState) {
		return nil, errors.New("get: Client and CurrentState (an empty object of the kind to read) must be set")
	}
	if err := b.Client.Get(contextOr(ctx), client.ObjectKey{Namespace: b.ObjectMeta.Namespace, Name: b.ObjectMeta.Name}, b.CurrentState); err != nil {
		return nil, err
	}
	return b.CurrentState, nil
}

// List reads into ObjectList all objects of its kind that are in the namespace of ObjectMeta and have Labels, whoever's
// they are.
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

// owner returns who owns the object: CrObject, or a stand-in for whom OwnerRef names.
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
	owner.SetNamespace(b.ObjectMeta.Namespace) // where its children are
	owner.SetName(ref.Name)
	owner.SetUID(ref.UID)
	return owner, nil
}

// isNil reports whether there is nothing, be it a nil interface or a nil pointer in one.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}
