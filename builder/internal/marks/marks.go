package marks

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Owner is an owner with children that have no owner reference.
type Owner struct {
	// UID and Key identify the owner.
	UID types.UID
	Key store.Key
	// Manager is the engine's field manager.
	Manager string
	// Proved has the versions of objects whose marks the builder has set.
	Proved *memory.Versions
}

// HasSet reports whether a field manager, or one of the former ones, has set all of these fields of an object's metadata.
func HasSet(obj client.Object, manager string, former []string, fields *fieldpath.Set) bool {
	return fieldmanager.Manager{Name: manager, Former: former}.HasSet(obj.GetManagedFields(), fields)
}

// LabelFields returns the fields of labels.
func LabelFields(labels map[string]string) *fieldpath.Set {
	fields := &fieldpath.Set{}
	for name := range labels {
		fields.Insert(fieldpath.MakePathOrDie("metadata", "labels", name))
	}
	return fields
}

// set is the marks of a child without an owner reference. The number distinguishes the sets in Owner.Proved.
type set struct {
	number uint64
	fields *fieldpath.Set
}

var (
	// retainedMarks are the annotations that name the owner.
	retainedMarks = set{1, fieldpath.NewSet(
		fieldpath.MakePathOrDie("metadata", "annotations", wellknown.AnnotationOwnerKind),
		fieldpath.MakePathOrDie("metadata", "annotations", wellknown.AnnotationOwner),
	)}
	// crossNamespaceMarks are these and the label with the owner's UID.
	crossNamespaceMarks = set{2, retainedMarks.fields.Union(LabelFields(map[string]string{wellknown.LabelOwnerUID: ""}))}
)

// SetCrossNamespace marks an object as the owner's cross-namespace child. The annotations also enqueue the owner.
func (o Owner) SetCrossNamespace(obj client.Object) {
	payload.SetLabel(obj, wellknown.LabelOwnerUID, string(o.UID))
	o.SetRetained(obj)
}

// SetRetained marks an object as a retained child of the owner.
func (o Owner) SetRetained(obj client.Object) {
	payload.SetAnnotation(obj, wellknown.AnnotationOwnerKind, o.Key.GroupKind().String())
	payload.SetAnnotation(obj, wellknown.AnnotationOwner, o.Key.NamespacedName().String())
}

// names reports whether the annotations of a child without an owner reference name the owner.
func (o Owner) names(obj client.Object) bool {
	annotations := obj.GetAnnotations()
	return annotations[wellknown.AnnotationOwnerKind] == o.Key.GroupKind().String() &&
		annotations[wellknown.AnnotationOwner] == o.Key.NamespacedName().String()
}

// IsCrossNamespace reports whether an object is the owner's cross-namespace child: it has the marks and no controller, and the builder
// has set the marks.
func (o Owner) IsCrossNamespace(obj client.Object, former []string) bool {
	return o.IsMarked(obj) && o.isProved(obj, former, crossNamespaceMarks)
}

// IsMarked reports whether an object has the marks of the owner's cross-namespace child and no controller, set by any field manager.
func (o Owner) IsMarked(obj client.Object) bool {
	return obj.GetLabels()[wellknown.LabelOwnerUID] == string(o.UID) && o.names(obj) && metav1.GetControllerOfNoCopy(obj) == nil
}

// guards are the fields of an owner that a builder writes before it creates the first cross-namespace child.
var guards = fieldpath.NewSet(
	fieldpath.MakePathOrDie("metadata", "annotations", wellknown.AnnotationGroupKindsCrossNamespace),
	fieldpath.MakePathOrDie("metadata", "finalizers", value.NewValueInterface(wellknown.Finalizer)),
)

// GuardedBy returns the field managers that have guarded an owner of cross-namespace children. Usually that is the name under which the
// builder created the first of them. Only those who can write the owner can add another one.
func GuardedBy(owner client.Object) (managers []string) {
	for _, entry := range owner.GetManagedFields() {
		if set, err := fieldmanager.Fields(entry); err == nil && !set.Intersection(guards).Empty() {
			managers = append(managers, entry.Manager)
		}
	}
	return managers
}

// MarkedBy returns the field manager, one of some, that has set all marks of a cross-namespace child; empty if there is none.
func MarkedBy(obj client.Object, managers []string) string {
	return setBy(obj, managers, crossNamespaceMarks)
}

func setBy(obj client.Object, managers []string, marks set) string {
	for _, manager := range managers {
		if HasSet(obj, manager, nil, marks.fields) {
			return manager
		}
	}
	return ""
}

// MarkedBefore returns the field manager that has marked an object as the owner's retained or cross-namespace child, in place of the
// builder; empty if there is none. Adopt can name each of these managers as a former one.
func (o Owner) MarkedBefore(obj client.Object, retained bool) string {
	marks := crossNamespaceMarks
	if retained {
		marks = retainedMarks
	}
	if retained && !o.names(obj) || !retained && !o.IsMarked(obj) {
		return ""
	}
	var managers []string
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager != fieldmanager.KubectlApply {
			managers = append(managers, entry.Manager)
		}
	}
	return setBy(obj, managers, marks)
}

// IsRetained reports whether an object has the marks of a retained child of the owner, and the builder has set them.
func (o Owner) IsRetained(obj client.Object, former []string) bool {
	return o.names(obj) && o.isProved(obj, former, retainedMarks)
}

// isProved is HasSet for the marks of children without an owner reference. It remembers proved versions, because each pass calls it.
func (o Owner) isProved(obj client.Object, former []string, by set) bool {
	version := memory.Version{ResourceVersion: obj.GetResourceVersion(), Hash: by.number}
	if obj.GetUID() != "" && o.Proved.Has(obj.GetUID(), version) {
		return true
	}
	if !HasSet(obj, o.Manager, former, by.fields) {
		return false
	}
	if obj.GetUID() != "" {
		o.Proved.Add(obj.GetUID(), version)
	}
	return true
}

// LabelSetter returns the field manager that has set a label, for messages.
func LabelSetter(obj client.Object, label string) string {
	if entry := fieldmanager.Setter(obj.GetManagedFields(), fieldpath.MakePathOrDie("metadata", "labels", label), ""); entry != nil {
		return "field manager " + strconv.Quote(entry.Manager)
	}
	return "no one on record"
}
