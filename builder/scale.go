package builder

import (
	"context"
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Scale sets the number of an object's replicas through its subresource scale: of a Deployment, a StatefulSet, or a
// custom resource that has it. Whatever else manages the object goes on to do so, as with a HorizontalPodAutoscaler.
type Scale struct {
	// Target is the object, taken from the view. It need not be the owner's: the plan must see to it that the owner's
	// author may scale it.
	Target client.Object
	// Replicas is how many there shall be.
	Replicas int32
}

// scaleGiven scales what a plan says. If an object has changed since it was seen, that is a conflict, and the next pass
// sees it; if it is gone there is nothing to do.
func (p *pass) scaleGiven(ctx context.Context, scales []Scale) error {
	return inBatches(len(scales), p.engine.parallelism, func(i int) error { return p.scale(ctx, scales[i]) })
}

func (p *pass) scale(ctx context.Context, s Scale) error {
	k, err := p.engine.kinds.of(s.Target)
	if err != nil {
		return err
	}
	key := k.key(s.Target)
	if s.Target.GetResourceVersion() == "" {
		return fmt.Errorf("%w: %s to be scaled has no resource version; take it from the view", ErrMisuse, key)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": s.Target.GetResourceVersion()},
		"spec":     map[string]any{"replicas": s.Replicas},
	})
	if err != nil {
		return err
	}
	obj, err := p.engine.kinds.empty(k)
	if err != nil {
		return err
	}
	obj.SetNamespace(key.Namespace)
	obj.SetName(key.Name)
	err = p.engine.client.SubResource("scale").Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), &client.SubResourcePatchOptions{
		PatchOptions: client.PatchOptions{
			FieldManager: p.engine.name,
			// The answer is a Scale, so that a consistent client finds no resource version in the object, and fails after
			// the write. A pass that doesn't see the write yet makes a conflict.
			DisableReadYourWritesConsistency: true,
		},
		SubResourceBody: &autoscalingv1.Scale{},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return &Error{Key: key, Operation: "scale", Err: err, object: s.Target}
	}
	p.wrote(k, key)
	return nil
}
