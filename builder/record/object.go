package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// lastApplied is kubectl's copy of an object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// renderer renders objects of a scheme.
type renderer struct{ scheme *runtime.Scheme }

// object returns an object with its kind, and without what no plan should read.
func (r renderer) object(obj client.Object) (Object, error) {
	gvk, err := apiutil.GVKForObject(obj, r.scheme)
	if err != nil {
		return nil, err
	}
	fields, err := plain(obj)
	if err != nil {
		return nil, fmt.Errorf("%T %s: %w", obj, obj.GetName(), err)
	}
	object, ok := fields.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the JSON of %T %s isn't an object", obj, obj.GetName())
	}
	object["apiVersion"], object["kind"] = gvk.GroupVersion().String(), gvk.Kind
	unstructured.RemoveNestedField(object, "metadata", "managedFields")
	unstructured.RemoveNestedField(object, "metadata", "annotations", lastApplied)
	unstructured.RemoveNestedField(object, "metadata", "annotations", wellknown.AnnotationDigest) // digests without a key
	if meta, ok := object["metadata"].(map[string]any); ok && meta["creationTimestamp"] == nil {
		delete(meta, "creationTimestamp")
	}
	return object, nil
}

// objects returns objects in order.
func (r renderer) objects(all iter.Seq[client.Object]) ([]Object, error) {
	var rendered []Object
	for obj := range all {
		one, err := r.object(obj)
		if err != nil {
			return nil, err
		}
		rendered = append(rendered, one)
	}
	slices.SortFunc(rendered, func(a, b Object) int {
		x, y := unstructured.Unstructured{Object: a}, unstructured.Unstructured{Object: b}
		return cmp.Or(cmp.Compare(x.GetAPIVersion(), y.GetAPIVersion()), cmp.Compare(x.GetKind(), y.GetKind()),
			cmp.Compare(x.GetNamespace(), y.GetNamespace()), cmp.Compare(x.GetName(), y.GetName()))
	})
	return rendered, nil
}

// name returns the name of an object: "Job.batch default/a".
func (r renderer) name(obj client.Object) string {
	gvk, err := apiutil.GVKForObject(obj, r.scheme)
	if err != nil {
		return fmt.Sprintf("%T %s/%s", obj, obj.GetNamespace(), obj.GetName())
	}
	return store.KeyOf(gvk, obj.GetNamespace(), obj.GetName()).String()
}

// keyOf returns the key of a recorded object.
func keyOf(o Object) store.Key {
	u := unstructured.Unstructured{Object: o}
	return store.KeyOf(u.GroupVersionKind(), u.GetNamespace(), u.GetName())
}

// nameOf returns the name of a recorded object: "Job.batch default/a".
func nameOf(o Object) string { return keyOf(o).String() }

// kind returns the name of an object's kind: "Job.batch".
func (r renderer) kind(obj runtime.Object) string {
	gvk, err := apiutil.GVKForObject(obj, r.scheme)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.GroupKind().String()
}

// plain returns a value as decoded from its JSON, with whole numbers as int64.
func plain(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var decoded any
	return decoded, apijson.Unmarshal(text, &decoded)
}
