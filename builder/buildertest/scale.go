package buildertest

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replicasOf returns the field with the replicas of an object that has the subresource scale; nil for another object.
func replicasOf(obj client.Object) **int32 {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas
	case *appsv1.StatefulSet:
		return &o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &o.Spec.Replicas
	default:
		return nil
	}
}

// patchScale is a PATCH of the subresource scale. Its reply is a Scale.
func (c *Client) patchScale(ctx context.Context, obj, into client.Object, patch client.Patch, o *client.PatchOptions) error {
	r, err := c.request(VerbPatch, obj, client.ObjectKeyFromObject(obj))
	if err != nil {
		return err
	}
	r.Subresource, r.manager, r.DryRun = "scale", o.FieldManager, isDryRun(o.DryRun)
	if err := r.checkKey(); err != nil {
		return err
	}
	data, err := patch.Data(into)
	if err != nil {
		return err
	}
	stored, err := c.call(ctx, r, func() (client.Object, error) { return c.server.scale(r, patch.Type(), data) })
	if err != nil {
		return err
	}
	if scale, ok := into.(*autoscalingv1.Scale); ok {
		*scale = *scaleOf(stored)
	}
	return nil
}

// scale changes the number of an object's replicas.
func (s *Server) scale(r *request, kind types.PatchType, body []byte) (client.Object, error) {
	old := s.get(r.kind, r.key())
	if old == nil {
		return nil, r.kind.notFound(r.Name)
	}
	before, err := json.Marshal(scaleOf(old))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	after, err := patched(r.kind, kind, before, body)
	if err != nil {
		return nil, err
	}
	var scale autoscalingv1.Scale
	if err := json.Unmarshal(after, &scale); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	errs := validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), r.Name, errs)
	}
	obj := copyOf(old)
	obj.SetResourceVersion(scale.ResourceVersion)
	*replicasOf(obj) = &scale.Spec.Replicas
	whole := *r // the rules are those of a change of the whole object
	whole.Subresource = ""
	if obj, err = s.attribute(&whole, obj, old); err == nil {
		obj, err = s.replace(&whole, obj, old)
	}
	r.Changed = whole.Changed
	return obj, err
}

func scaleOf(obj client.Object) *autoscalingv1.Scale {
	scale := &autoscalingv1.Scale{}
	scale.Name, scale.Namespace = obj.GetName(), obj.GetNamespace()
	scale.UID, scale.ResourceVersion, scale.CreationTimestamp = obj.GetUID(), obj.GetResourceVersion(), obj.GetCreationTimestamp()
	if n := *replicasOf(obj); n != nil {
		scale.Spec.Replicas = *n
	}
	return scale
}
