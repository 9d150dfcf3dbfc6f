package buildertest

import (
	"path"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

const optimisticLock = "the object has been modified; please apply your changes to the latest version and try again"

// update replaces an object, or its status, as a PUT does.
func (s *Server) update(r *request, body client.Object) (client.Object, error) {
	obj, err := s.decode(r.kind, body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if obj.GetName() == "" {
		return nil, apierrors.NewBadRequest("resource name may not be empty")
	}
	old := s.get(r.kind, r.key())
	if old == nil {
		return nil, r.kind.notFound(r.Name)
	}
	if uid := obj.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, r.kind.conflict(r.Name, "StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "+
			"AdditionalErrorMsg: Precondition failed: UID in precondition: %v, UID in object meta: %v", r.storageKey(), uid, old.GetUID())
	}
	if obj, err = s.attribute(r, obj, old); err != nil {
		return nil, err
	}
	return s.replace(r, obj, old)
}

// storageKey is the object's storage key in a real server, which error messages contain.
func (r *request) storageKey() string {
	group := ""
	if !r.kind.builtin {
		group = r.kind.gvk.Group
	}
	return "/" + path.Join("registry", group, r.kind.resource.Resource, r.Namespace, r.Name)
}

// attribute records the managers of the fields that a request changes.
func (s *Server) attribute(r *request, obj, old client.Object) (client.Object, error) {
	fields, err := s.fieldManager(r.kind, r.Subresource)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return s.stamp(fields.UpdateNoErrors(copyOf(old), obj, r.manager).(client.Object), old), nil
}

// replace replaces an object, after its fields have their managers, if the rules allow it. An equal object keeps its resource version.
func (s *Server) replace(r *request, obj, old client.Object) (client.Object, error) {
	switch version := obj.GetResourceVersion(); {
	case version != "" && version != old.GetResourceVersion():
		return nil, r.kind.conflict(r.Name, optimisticLock)
	case version == "" && r.needsResourceVersion():
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: r.kind.gvk.Group, Kind: r.kind.resource.Resource}, r.Name,
			field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	}
	obj.SetResourceVersion(old.GetResourceVersion())
	prepareUpdate(r, obj, old)
	if errs := once(append(validateChange(r, obj, old), s.validateSchema(obj, old)...)); len(errs) > 0 {
		return nil, apierrors.NewInvalid(r.kind.gvk.GroupKind(), r.Name, errs)
	}
	keepTimes(obj, old)
	if s.endsDeletion(obj, old) {
		return s.remove(r, obj), nil
	}
	if isSame(obj, old) {
		return old, nil
	}
	if err := checkSize(r, obj); err != nil {
		return nil, err
	}
	r.Changed = true
	if !r.DryRun {
		s.put(r.kind, obj)
	}
	return obj, nil
}

// needsResourceVersion reports whether the request is a PUT that must have a version. A patch takes the version of the present object.
func (r *request) needsResourceVersion() bool {
	return r.Verb == VerbUpdate && (!r.kind.builtin || rules.NeedsResourceVersion(r.kind.gvk.GroupKind()))
}

func prepareUpdate(r *request, obj, old client.Object) {
	k := r.kind
	obj.SetGeneration(old.GetGeneration())
	switch {
	case r.Subresource == "status" && k.builtin:
		setTopLevel(obj, "Spec", topLevel(old, "Spec"))
	case r.Subresource == "status":
		onlyStatus(obj, old)
	case k.status:
		setStatus(obj, statusOf(old))
	}
	if r.Subresource == "" {
		rules.PrepareUpdate(obj, old)
		if old.GetGeneration() > 0 && isNewGeneration(k, obj, old) {
			obj.SetGeneration(old.GetGeneration() + 1)
		}
	}
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	obj.SetCreationTimestamp(old.GetCreationTimestamp())
	if old.GetDeletionTimestamp() != nil {
		obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if old.GetDeletionGracePeriodSeconds() != nil && obj.GetDeletionGracePeriodSeconds() == nil {
		obj.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}

// onlyStatus reverts the changes outside the status in a write of a custom object's status.
func onlyStatus(obj, old client.Object) {
	status, fields := statusOf(obj), obj.GetManagedFields()
	setUntyped(obj, copyOf(old))
	setStatus(obj, status)
	obj.SetManagedFields(fields)
}

func isNewGeneration(k kind, obj, old client.Object) bool {
	if !isSame(specOf(k, obj), specOf(k, old)) {
		return true
	}
	return rules.AnnotationsCount(obj) && !sameMap(obj.GetAnnotations(), old.GetAnnotations())
}

func validateChange(r *request, obj, old client.Object) field.ErrorList {
	metadata := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessorUpdate(obj, old, metadata)
	if r.Subresource != "" {
		return errs
	}
	errs = append(errs, validation.ValidateObjectMetaAccessor(obj, r.kind.namespaced, nameRule(obj), metadata)...)
	if !r.kind.builtin {
		return errs
	}
	errs = append(errs, rules.Validate(obj)...)
	return append(errs, rules.ValidateUpdate(obj, old)...)
}

// once drops duplicate errors.
func once(errs field.ErrorList) field.ErrorList {
	seen := map[string]bool{}
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		twice := seen[e.Error()]
		seen[e.Error()] = true
		return twice
	})
}

// endsDeletion reports whether an update removes the last finalizer of a terminating object.
func (s *Server) endsDeletion(obj, old client.Object) bool {
	if len(obj.GetFinalizers()) > 0 || old.GetDeletionTimestamp() == nil {
		return false
	}
	grace := old.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}

// remove removes an object, and then its garbage.
func (s *Server) remove(r *request, obj client.Object) client.Object {
	r.Changed = true
	if r.DryRun {
		return obj
	}
	return s.drop(r.kind, obj)
}
