package effectstest

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Done returns the journal of an effect that was performed with a result, as the view of a plan has it. It panics if the result has no
// JSON form.
func Done(owner client.Object, e effects.Effect, result any) *appsv1.ControllerRevision {
	data, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	object := effects.Want(owner, e).Object().(*appsv1.ControllerRevision)
	object.OwnerReferences = []metav1.OwnerReference{{Name: owner.GetName(), UID: owner.GetUID(), Controller: new(true)}}
	state, err := json.Marshal(effect.Read(object).Begun(metav1.Now().Time).Succeeded(data))
	if err != nil {
		panic(err)
	}
	object.Annotations[wellknown.AnnotationEffectState] = string(state)
	return object
}
