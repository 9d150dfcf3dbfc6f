package plancheck

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestLiteral(t *testing.T) {
	for want, obj := range map[string]any{
		"&corev1.Pod{}":                            &corev1.Pod{},
		"&appsv1.Deployment{}":                     &appsv1.Deployment{},
		"&autoscalingv2.HorizontalPodAutoscaler{}": &autoscalingv2.HorizontalPodAutoscaler{},
		"&v1alpha1.JobFlow{}":                      &v1alpha1.JobFlow{},
		"&unstructured.Unstructured{}":             &unstructured.Unstructured{},
	} {
		assert.Equal(t, want, literal(reflect.TypeOf(obj)))
	}
}

// A child counts as declared whatever Go form its kind was declared with.
func TestKindSets(t *testing.T) {
	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	metadata := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
	typed := &appsv1.Deployment{}
	for _, declared := range []client.Object{typed, untyped, metadata} {
		var s kindSet
		s.add(declared)
		assert.True(t, s.has(typed))
		assert.True(t, s.has(untyped))
		assert.True(t, s.has(metadata))
		assert.False(t, s.has(&appsv1.StatefulSet{}))
	}
	var none kindSet
	none.add(nil)
	assert.False(t, none.has(typed))
}

func TestAChildOfAKindThatIsOwnedElsewhere(t *testing.T) {
	d := &Declared{}
	d.Owns(&appsv1.Deployment{}, true)
	err := d.CheckChildren(1, func(int) Child { return Child{Object: deployment("web")} })
	assert.ErrorContains(t, err, "add builder.CrossNamespace() to its Want, or Owns(&appsv1.Deployment{}) to the operator")
}

// Children and kinds that are declared cost no allocation to check, however many there are.
func TestCheckAllocatesNothing(t *testing.T) {
	d := &Declared{}
	d.Owns(&appsv1.Deployment{}, false)
	owner, child := deployment("owner"), deployment("child")
	plan := Plan{Status: deployment("owner"), Prune: []client.Object{&appsv1.Deployment{}}}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		err := d.CheckChildren(100, func(int) Child { return Child{Object: child} })
		if err != nil || plan.Check(d, owner, true) != nil {
			t.Fatal(err)
		}
	}))
}
