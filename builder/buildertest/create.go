package buildertest

import (
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

const maxGeneratedBase = 58 // of a generated name, so that with its suffix it is a DNS label

// create creates an object as a POST does.
func (s *Server) create(r *request, body client.Object) (client.Object, error) {
	obj, err := s.decode(r.kind, body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		base := obj.GetGenerateName()
		obj.SetName(fmt.Sprintf("%s%05x", base[:min(len(base), maxGeneratedBase)], s.numberOf(obj, true)))
		s.setDefaults(obj) // a Namespace's label is its name
	}
	r.Name = obj.GetName()
	if err := s.checkNamespace(r.kind, obj); err != nil {
		return nil, err
	}
	wipeSystemFields(obj)
	fields, err := s.fieldManager(r.kind, "")
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	obj = s.stamp(fields.UpdateNoErrors(r.kind.empty(), obj, r.manager).(client.Object), nil)
	rules.Admit(obj)
	return s.insert(r, obj)
}

// insert completes a creation after the fields have their managers, for POSTs and for applies that create.
func (s *Server) insert(r *request, obj client.Object) (client.Object, error) {
	asked := obj.GetResourceVersion()
	s.fillSystemFields(obj)
	s.prepareCreate(r.kind, obj)
	if errs := once(append(validateNew(r.kind, obj), s.validateSchema(obj, nil)...)); len(errs) > 0 {
		return nil, apierrors.NewInvalid(r.kind.gvk.GroupKind(), obj.GetName(), errs)
	}
	if asked != "" {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "resourceVersion should not be set on objects to be created",
		}}
	}
	if err := s.checkQuota(r.kind, obj); err != nil {
		return nil, err
	}
	if err := checkSize(r, obj); err != nil {
		return nil, err
	}
	if found := s.get(r.kind, client.ObjectKeyFromObject(obj)); found != nil {
		return nil, r.kind.alreadyExists(found)
	}
	if !r.DryRun {
		s.put(r.kind, obj)
	}
	r.Created, r.Changed = true, true
	return obj, nil
}

// fillSystemFields sets the fields that only the server sets. It ignores a client's values.
func (s *Server) fillSystemFields(obj client.Object) {
	wipeSystemFields(obj)
	obj.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", s.numberOf(obj, false))))
	obj.SetCreationTimestamp(s.now())
	obj.SetResourceVersion("")
}

func wipeSystemFields(obj client.Object) {
	obj.SetUID("")
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
}

func (s *Server) prepareCreate(k kind, obj client.Object) {
	if k.status {
		clearStatus(obj)
	}
	if !k.builtin || rules.HasGeneration(k.gvk.GroupKind()) {
		obj.SetGeneration(1)
	}
	rules.PrepareCreate(obj, s.numberOf(obj, false))
	if k.builtin {
		s.setDefaults(obj) // of the status, such as a phase
	}
}

func validateNew(k kind, obj client.Object) field.ErrorList {
	metadata := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(obj, k.namespaced, nameRule(obj), metadata)
	if k.builtin {
		errs = append(errs, rules.ValidateFinalizers(obj.GetFinalizers(), metadata.Child("finalizers"))...)
	}
	return append(errs, rules.ValidateNew(obj)...)
}

// validateSchema returns what the schema of a custom object doesn't admit, apart from what the old object, if any, already has.
func (s *Server) validateSchema(obj, old client.Object) field.ErrorList {
	u, ok := obj.(*unstructured.Unstructured)
	c := s.crds[obj.GetObjectKind().GroupVersionKind()]
	if !ok || c == nil {
		return nil
	}
	var before map[string]any
	if o, ok := old.(*unstructured.Unstructured); ok {
		before = o.Object
	}
	return c.Validate(u.Object, before)
}

func nameRule(obj client.Object) validation.ValidateNameFunc {
	rule := rules.ValidName(obj)
	return func(name string, prefix bool) []string {
		if prefix {
			return append(content.IsPathSegmentPrefix(name), rule(name, prefix)...)
		}
		return append(content.IsPathSegmentName(name), rule(name, prefix)...)
	}
}

// checkNamespace refuses objects in a terminating or a deleted namespace. A namespace of which the server never had an object counts as
// existing, so that tests don't have to create namespaces.
func (s *Server) checkNamespace(k kind, obj client.Object) error {
	switch {
	case !k.namespaced && obj.GetNamespace() != "":
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case !k.namespaced:
		return nil
	case obj.GetNamespace() == "":
		return apierrors.NewBadRequest("an empty namespace may not be set during creation")
	}
	name := obj.GetNamespace()
	h := s.tables[namespaceKind.gvk][types.NamespacedName{Name: name}]
	switch {
	case h == nil:
		return nil
	case h.latest() == nil:
		return apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	case h.latest().GetDeletionTimestamp() == nil:
		return nil
	}
	err := apierrors.NewForbidden(k.resource, obj.GetName(),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", name), Field: "metadata.namespace",
	})
	return err
}

var namespaceKind = kind{gvk: corev1.SchemeGroupVersion.WithKind("Namespace"), builtin: true}

// stamp sets the server's time in the managed fields that a request has changed, because the library uses the real time.
func (s *Server) stamp(obj, old client.Object) client.Object {
	known := map[int64]bool{}
	if old != nil {
		for _, entry := range old.GetManagedFields() {
			known[entry.Time.Unix()] = true
		}
	}
	now := s.now()
	entries := obj.GetManagedFields()
	for i := range entries {
		if entries[i].Time == nil || !known[entries[i].Time.Unix()] {
			entries[i].Time = &now
		}
	}
	obj.SetManagedFields(entries)
	return obj
}

// seed stores an object as it is, with a UID and defaults.
func (s *Server) seed(given client.Object) error {
	k, err := s.kinds.of(given)
	if err != nil {
		return err
	}
	obj, err := s.decode(k, given)
	if err != nil {
		return err
	}
	if obj.GetName() == "" {
		return fmt.Errorf("%T to be added has no name", given)
	}
	if !k.namespaced && obj.GetNamespace() != "" {
		return fmt.Errorf("%T %s to be added has the namespace %s; accepted is none, because the kind is cluster-scoped (see Sample)",
			given, obj.GetName(), obj.GetNamespace())
	}
	uid, created, generation, status := obj.GetUID(), obj.GetCreationTimestamp(), obj.GetGeneration(), statusOf(obj)
	deleted := obj.GetDeletionTimestamp()
	s.fillSystemFields(obj)
	if uid != "" {
		obj.SetUID(uid)
	}
	if !created.IsZero() {
		obj.SetCreationTimestamp(created)
	}
	s.prepareCreate(k, obj)
	setStatus(obj, status)
	s.setDefaults(obj)
	if generation > 0 {
		obj.SetGeneration(generation)
	}
	if deleted != nil {
		obj.SetDeletionTimestamp(deleted)
		obj.SetDeletionGracePeriodSeconds(new(int64))
	}
	if errs := s.validateSchema(obj, nil); len(errs) > 0 {
		return apierrors.NewInvalid(k.gvk.GroupKind(), obj.GetName(), errs)
	}
	if found := s.get(k, client.ObjectKeyFromObject(obj)); found != nil {
		return k.alreadyExists(found)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		obj = u.DeepCopy()
	}
	s.put(k, obj)
	return nil
}
