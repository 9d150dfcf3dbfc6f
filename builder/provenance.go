package builder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/internal/wellknown"
)

// A label or an annotation by itself proves nothing: templates, GitOps and other controllers copy onto objects whatever
// their users write. So a mark counts only if the object's managed fields say that the builder has set it: the API server
// keeps that record, and takes a field off it when another manager changes the field's value.
//
// Who may patch an object can write under any manager's name. Such a person can have the object deleted without the
// builder as well: garbage collection deletes what names an owner that isn't there.

// hasMarked reports whether the engine has set all of these fields of an object's metadata, or else one of the field managers has that the
// child's options name as former ones.
func (e *Engine) hasMarked(obj client.Object, former []string, fields *fieldpath.Set) bool {
	return fieldmanager.Manager{Name: e.name, Former: former}.HasSet(obj.GetManagedFields(), fields)
}

// labelFields are the fields of labels.
func labelFields(labels map[string]string) *fieldpath.Set {
	fields := &fieldpath.Set{}
	for name := range labels {
		fields.Insert(fieldpath.MakePathOrDie("metadata", "labels", name))
	}
	return fields
}

// marks are what a child without an owner reference carries instead. The number tells one set from the other in the memo.
type marks struct {
	number uint64
	fields *fieldpath.Set
}

var (
	// retainedMarks are the annotations that name the owner.
	retainedMarks = marks{1, fieldpath.NewSet(
		fieldpath.MakePathOrDie("metadata", "annotations", wellknown.AnnotationOwnerKind),
		fieldpath.MakePathOrDie("metadata", "annotations", wellknown.AnnotationOwner),
	)}
	// crossNamespaceMarks are these and the label with the owner's UID.
	crossNamespaceMarks = marks{2, retainedMarks.fields.Union(labelFields(map[string]string{wellknown.LabelOwnerUID: ""}))}
)

// namesOwner reports whether the annotations of a child without an owner reference name the owner.
func (p *pass) namesOwner(obj client.Object) bool {
	annotations := obj.GetAnnotations()
	return annotations[wellknown.AnnotationOwnerKind] == p.ownerKey.GroupKind().String() &&
		annotations[wellknown.AnnotationOwner] == p.ownerKey.NamespacedName().String()
}

// isMarkedCrossNamespace reports whether an object is the owner's cross-namespace child: it says so, has no controller, and the
// builder has written that.
func (p *pass) isMarkedCrossNamespace(obj client.Object, former []string) bool {
	if obj.GetLabels()[wellknown.LabelOwnerUID] != string(p.owner.GetUID()) || !p.namesOwner(obj) || metav1.GetControllerOfNoCopy(obj) != nil {
		return false
	}
	return p.engine.isProved(obj, former, crossNamespaceMarks)
}

// isMarkedRetained reports whether an object says that it is the owner's and outlives it, and the builder has written that.
func (p *pass) isMarkedRetained(obj client.Object, former []string) bool {
	return p.namesOwner(obj) && p.engine.isProved(obj, former, retainedMarks)
}

// isProved is hasMarked for the marks of children without an owner reference, which each pass asks for: what is proved of
// a version of an object is remembered.
func (e *Engine) isProved(obj client.Object, former []string, by marks) bool {
	version := memory.Version{ResourceVersion: obj.GetResourceVersion(), Hash: by.number}
	if obj.GetUID() != "" && e.memory.Marked.Has(obj.GetUID(), version) {
		return true
	}
	if !e.hasMarked(obj, former, by.fields) {
		return false
	}
	if obj.GetUID() != "" {
		e.memory.Marked.Add(obj.GetUID(), version)
	}
	return true
}

// labelSetter names the field manager that has set a label, for people.
func labelSetter(obj client.Object, label string) string {
	if entry := fieldmanager.Setter(obj.GetManagedFields(), fieldpath.MakePathOrDie("metadata", "labels", label), ""); entry != nil {
		return "field manager " + entry.Manager
	}
	return "no one on record"
}
