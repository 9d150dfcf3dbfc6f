package builder

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// desired is one object that an item of the Builder describes.
type desired struct {
	kind   schema.GroupKind
	object client.Object
	common *CommonBuilder // of the item, completed from the Builder's store
}

func (d desired) String() string {
	return describe(d.kind.Kind, d.object.GetNamespace(), d.object.GetName())
}

func describe(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

// desire returns the object of an item. An item without an owner or a client gets those of the store.
func (s *Builder) desire(kind schema.GroupKind, object client.Object, common CommonBuilder) desired {
	if isNil(common.Client) {
		common.Client = s.Store.Client
	}
	if isNil(common.CrObject) && common.OwnerRef.UID == "" {
		common.CrObject = s.Store.CrObject
	}
	return desired{kind: kind, object: object, common: &common}
}

// batch has the desired objects of one owner on one client.
type batch struct {
	engine  *builder.Engine
	owner   client.Object
	objects []desired
}

// apply applies objects. It writes those of one owner in parallel.
func (s *Builder) apply(what string, objects []desired) (controllerutil.OperationResult, error) {
	batches, err := batchesOf(lastOfEach(objects))
	if err != nil {
		return controllerutil.OperationResultNone, err
	}
	var errs []error
	var all builder.Result
	for _, b := range batches {
		pass := b.engine.For(b.owner)
		for _, d := range b.objects {
			pass.Object(d.object)
		}
		res, err := pass.Reconcile(s.context())
		s.Recorder.emit(b.owner, what, res, err)
		all.Changes = append(all.Changes, res.Changes...)
		errs = append(errs, err, waiting(res))
	}
	return resultOf(all), errors.Join(errs...)
}

// lastOfEach drops each object that a later one of the same kind and name replaces. The original wrote them one after the other: the
// last one stayed, and each undid another in every pass.
func lastOfEach(objects []desired) []desired {
	last := make(map[string]int, len(objects))
	for i, d := range objects {
		last[d.kind.String()+" "+d.String()] = i
	}
	var kept []desired
	for i, d := range objects {
		if last[d.kind.String()+" "+d.String()] == i {
			kept = append(kept, d)
		}
	}
	return kept
}

func batchesOf(objects []desired) ([]*batch, error) {
	type place struct {
		engine *builder.Engine
		owner  types.UID
	}
	var batches []*batch
	at := map[place]*batch{}
	for _, d := range objects {
		engine, owner, err := d.common.engineAndOwner()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d, err)
		}
		b := at[place{engine, owner.GetUID()}]
		if b == nil {
			b = &batch{engine: engine, owner: owner}
			at[place{engine, owner.GetUID()}] = b
			batches = append(batches, b)
		}
		b.objects = append(b.objects, d)
	}
	return batches, nil
}

// resultOf returns the operation of a pass. Created precedes Updated.
func resultOf(res builder.Result) controllerutil.OperationResult {
	result := controllerutil.OperationResultNone
	for _, c := range res.Changes {
		if c.Reason == events.ReasonCreated {
			return controllerutil.OperationResultCreated
		}
		result = controllerutil.OperationResultUpdated
	}
	return result
}

// waiting returns an error about objects that could not be created yet. It is no failure, and causes no event. An OperationResult has
// no delay, so only an error makes the caller retry.
func waiting(res builder.Result) error {
	var errs []error
	for _, child := range res.Pending {
		if child.Reason == events.ReasonWaiting {
			errs = append(errs, fmt.Errorf(
				"%s can't be written yet: an object of its name is being deleted, or is too new for the cache", child.Key))
		}
	}
	return errors.Join(errs...)
}
