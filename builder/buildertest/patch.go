package buildertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// patch changes an object, or its status, as a PATCH does.
func (s *Server) patch(r *request, kind types.PatchType, body []byte) (client.Object, error) {
	old := s.get(r.kind, r.key())
	if kind == types.ApplyPatchType {
		return s.apply(r, body, old)
	}
	if old == nil {
		return nil, r.kind.notFound(r.Name)
	}
	before, err := json.Marshal(old)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	after, err := patched(r.kind, kind, before, body)
	if err != nil {
		return nil, err
	}
	obj, err := s.decodeJSON(r.kind, after)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := r.isNamed(obj); err != nil {
		return nil, err
	}
	if obj, err = s.attribute(r, obj, old); err != nil {
		return nil, err
	}
	return s.replace(r, obj, old)
}

func patched(k kind, kind types.PatchType, before, body []byte) ([]byte, error) {
	switch kind {
	case types.JSONPatchType:
		p, err := jsonpatch.DecodePatch(body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		after, err := p.Apply(before)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return after, nil
	case types.MergePatchType:
		after, err := jsonpatch.MergePatch(before, body)
		if err != nil {
			return nil, apierrors.NewBadRequest("invalid JSON patch")
		}
		return after, nil
	case types.StrategicMergePatchType:
		if !k.builtin {
			return nil, unsupportedPatch()
		}
		like, err := scheme.Scheme.New(k.gvk)
		if err != nil {
			return nil, err
		}
		after, err := strategicpatch.StrategicMergePatch(before, body, like)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return after, nil
	default:
		return nil, unsupportedPatch()
	}
}

func unsupportedPatch() error {
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", schema.GroupResource{}, "",
		"the body of the request was in an unknown format - accepted media types include: "+
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml", 0, false)
}

// apply merges the desired fields of a manager, by the rules of server-side apply. It creates a missing object.
func (s *Server) apply(r *request, body []byte, old client.Object) (client.Object, error) {
	wanted := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(body, &wanted.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if old == nil && r.Subresource != "" {
		return nil, r.kind.notFound(r.Name)
	}
	live := r.kind.empty()
	if old != nil {
		live = copyOf(old)
	}
	fields, err := s.fieldManager(r.kind, r.Subresource)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	merged, err := fields.Apply(live, wanted, r.manager, r.force)
	if err != nil {
		return nil, applyError(err)
	}
	obj := s.stamp(merged.(client.Object), old)
	rules.Decode(obj)
	if err := r.isNamed(obj); err != nil {
		return nil, err
	}
	if old != nil {
		return s.replace(r, obj, old)
	}
	if uid := obj.GetUID(); uid != "" {
		return nil, r.kind.conflict(r.Name, "uid mismatch: the provided object specified uid %s, and no existing object was found", uid)
	}
	if err := s.checkNamespace(r.kind, obj); err != nil {
		return nil, err
	}
	rules.Admit(obj)
	return s.insert(r, obj)
}

func applyError(err error) error {
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return err
	}
	return apierrors.NewInternalError(err)
}

// isNamed refuses a patch that names another object than the request.
func (r *request) isNamed(obj client.Object) error {
	if obj.GetNamespace() == "" {
		obj.SetNamespace(r.Namespace)
	}
	if obj.GetName() == "" {
		obj.SetName(r.Name)
	}
	switch {
	case obj.GetNamespace() != r.Namespace:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case obj.GetName() != r.Name:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), r.Name))
	}
	return nil
}

func setUntyped(obj, to client.Object) {
	obj.(*unstructured.Unstructured).Object = to.(*unstructured.Unstructured).Object
}

func sameMap(a, b map[string]string) bool { return maps.Equal(a, b) }
