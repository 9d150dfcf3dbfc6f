package builder

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/builder"
)

// want is one object that should exist: what an item of the Builder asks for.
type want struct {
	kind   schema.GroupKind
	object client.Object
	common *CommonBuilder // of the item, completed from the Builder's store
}

func (w want) String() string {
	return describe(w.kind.Kind, w.object.GetNamespace(), w.object.GetName())
}

func describe(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

// want makes an object an item's. An item that doesn't say who owns it, or on which client, has that of the store.
func (s *Builder) want(kind schema.GroupKind, object client.Object, common CommonBuilder) want {
	if isNil(common.Client) {
		common.Client = s.Store.Client
	}
	if isNil(common.CrObject) && common.OwnerRef.UID == "" {
		common.CrObject = s.Store.CrObject
	}
	return want{kind: kind, object: object, common: &common}
}

// batch is the wanted objects of one owner on one client.
type batch struct {
	engine *builder.Engine
	owner  client.Object
	wants  []want
}

// apply makes objects as they are wanted. Those of one owner are written in parallel.
func (s *Builder) apply(what string, wants []want) (controllerutil.OperationResult, error) {
	batches, err := batchesOf(lastOfEach(wants))
	if err != nil {
		return controllerutil.OperationResultNone, err
	}
	var errs []error
	var all builder.Result
	for _, b := range batches {
		pass := b.engine.For(b.owner)
		for _, w := range b.wants {
			pass.Object(w.object)
		}
		res, err := pass.Reconcile(s.context())
		s.Recorder.tell(b.owner, what, res, err)
		all.Changes = append(all.Changes, res.Changes...)
		errs = append(errs, err, waiting(res))
	}
	return resultOf(all), errors.Join(errs...)
}

// lastOfEach drops objects that a later one of the same kind and name replaces: written one after the other, as the
// original did, the last would stay and each would undo another in every pass.
func lastOfEach(wants []want) []want {
	last := make(map[string]int, len(wants))
	for i, w := range wants {
		last[w.kind.String()+" "+w.String()] = i
	}
	var kept []want
	for i, w := range wants {
		if last[w.kind.String()+" "+w.String()] == i {
			kept = append(kept, w)
		}
	}
	return kept
}

func batchesOf(wants []want) ([]*batch, error) {
	type place struct {
		engine *builder.Engine
		owner  types.UID
	}
	var batches []*batch
	at := map[place]*batch{}
	for _, w := range wants {
		engine, owner, err := w.common.engineAndOwner()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		b := at[place{engine, owner.GetUID()}]
		if b == nil {
			b = &batch{engine: engine, owner: owner}
			at[place{engine, owner.GetUID()}] = b
			batches = append(batches, b)
		}
		b.wants = append(b.wants, w)
	}
	return batches, nil
}

// resultOf says in one word what was done. Of several, Created counts more than Updated.
func resultOf(res builder.Result) controllerutil.OperationResult {
	result := controllerutil.OperationResultNone
	for _, c := range res.Changes {
		if c.Operation == builder.OperationCreated {
			return controllerutil.OperationResultCreated
		}
		result = controllerutil.OperationResultUpdated
	}
	return result
}

// waiting is the error of objects that could not be made yet. It is no failure, and not told in events; but an
// OperationResult can't say when to look again, and an error makes the caller do so.
func waiting(res builder.Result) error {
	var errs []error
	for _, key := range res.Waiting {
		errs = append(errs, fmt.Errorf("%s can't be written yet: an object of its name is being deleted, or is too new for the cache", key))
	}
	return errors.Join(errs...)
}
