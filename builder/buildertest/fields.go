package buildertest

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clientgoapply "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/armature-dev/armature/builder/buildertest/internal/crd"
)

// As in the API server, the code of apimachinery tracks the fields' managers and merges applies.

// fieldManager returns the tracker of a kind's fields, in requests for a subresource.
func (s *Server) fieldManager(k kind, subresource string) (*managedfields.FieldManager, error) {
	version := fieldpath.APIVersion(k.gvk.GroupVersion().String())
	reset := map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewExcludeSetFilter(resetFields(k, subresource))}
	if k.builtin {
		return managedfields.NewDefaultFieldManager(s.types, scheme.Scheme, serverSide{s}, scheme.Scheme,
			k.gvk, k.gvk.GroupVersion(), subresource, reset)
	}
	return managedfields.NewDefaultCRDFieldManager(s.types, serverSide{s}, serverSide{s}, serverSide{s},
		k.gvk, k.gvk.GroupVersion(), subresource, reset)
}

// resetFields are the fields that a request can't write, and so doesn't own.
func resetFields(k kind, subresource string) *fieldpath.Set {
	switch {
	case subresource == "" && k.status:
		return fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	case subresource == "status" && k.builtin:
		return fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))
	case subresource == "status":
		return fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
	default:
		return fieldpath.NewSet()
	}
}

// serverSide gives the field manager the server's defaults, and for custom kinds a conversion without effect.
type serverSide struct{ server *Server }

func (d serverSide) Default(obj runtime.Object) { d.server.setDefaults(obj) }

func (serverSide) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (serverSide) Convert(in, out, _ any) error {
	from, ok := in.(*unstructured.Unstructured)
	into, also := out.(*unstructured.Unstructured)
	if !ok || !also {
		return fmt.Errorf("convert %T into %T", in, out)
	}
	into.Object = from.Object
	return nil
}

func (serverSide) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (serverSide) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// typeConverter merges lists and maps: of built-in kinds, of kinds with a CRD, and of any other kind, with atomic lists.
type typeConverter struct {
	builtin, any managedfields.TypeConverter
	scheme       *runtime.Scheme
	crds         map[schema.GroupVersionKind]*crd.Kind
}

func newTypeConverter(crds map[schema.GroupVersionKind]*crd.Kind) managedfields.TypeConverter {
	return &typeConverter{
		builtin: clientgoapply.NewTypeConverter(scheme.Scheme),
		any:     managedfields.NewDeducedTypeConverter(),
		scheme:  scheme.Scheme,
		crds:    crds,
	}
}

func (c *typeConverter) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	switch {
	case c.crds[gvk] != nil:
		return c.crds[gvk].TypeConverter().ObjectToTyped(obj, options...)
	case c.scheme.Recognizes(gvk):
		return c.builtin.ObjectToTyped(obj, options...)
	default:
		return c.any.ObjectToTyped(obj, options...)
	}
}

func (c *typeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return c.any.TypedToObject(value)
}

// keepTimes restores the times in the managed fields if nothing else has changed, so that nothing is written.
func keepTimes(obj, old client.Object) {
	now, before := obj.GetManagedFields(), old.GetManagedFields()
	if len(now) != len(before) {
		return
	}
	timed := make([]metav1.ManagedFieldsEntry, len(now))
	for i := range now {
		timed[i] = now[i]
		timed[i].Time = before[i].Time
	}
	other := copyOf(obj)
	other.SetManagedFields(timed)
	if isSame(other, old) {
		obj.SetManagedFields(timed)
	}
}

// isSame reports whether writing obj over old would change nothing.
func isSame(obj, old client.Object) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return reflect.DeepEqual(u.Object, old.(*unstructured.Unstructured).Object)
	}
	return equality.Semantic.DeepEqual(obj, old)
}
