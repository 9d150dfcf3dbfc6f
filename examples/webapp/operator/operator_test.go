package operator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
	"github.com/armature-dev/armature/examples/webapp/operator"
)

func app(replicas *int32) *v1.WebApp {
	return &v1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello", Generation: 3},
		Spec:       v1.WebAppSpec{Image: "web:1", Greeting: "Hi", Replicas: replicas},
	}
}

// deployment is one as its controller would report it.
func deployment(replicas int32, change func(*appsv1.DeploymentStatus)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello", Generation: 2},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 2, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		},
	}
	if change != nil {
		change(&d.Status)
	}
	return d
}

func TestPlan(t *testing.T) {
	cases := map[string]struct {
		replicas *int32
		seen     []client.Object
		kinds    []string
		ready    metav1.ConditionStatus
	}{
		"nothing is there yet":       {ptr.To[int32](2), nil, []string{"cm", "deploy", "svc", "pdb"}, metav1.ConditionFalse},
		"all servers are there":      {ptr.To[int32](2), []client.Object{deployment(2, nil)}, []string{"cm", "deploy", "svc", "pdb"}, metav1.ConditionTrue},
		"one server has no budget":   {ptr.To[int32](1), []client.Object{deployment(1, nil)}, []string{"cm", "deploy", "svc"}, metav1.ConditionTrue},
		"replicas by default":        {nil, []client.Object{deployment(1, nil)}, []string{"cm", "deploy", "svc"}, metav1.ConditionTrue},
		"no server is wanted":        {ptr.To[int32](0), []client.Object{deployment(0, nil)}, []string{"cm", "deploy", "svc"}, metav1.ConditionTrue},
		"not scaled yet":             {ptr.To[int32](3), []client.Object{deployment(2, nil)}, []string{"cm", "deploy", "svc", "pdb"}, metav1.ConditionFalse},
		"one is not available":       {ptr.To[int32](1), []client.Object{deployment(1, func(s *appsv1.DeploymentStatus) { s.AvailableReplicas = 0 })}, []string{"cm", "deploy", "svc"}, metav1.ConditionFalse},
		"an old one is still there":  {ptr.To[int32](1), []client.Object{deployment(1, func(s *appsv1.DeploymentStatus) { s.Replicas = 2 })}, []string{"cm", "deploy", "svc"}, metav1.ConditionFalse},
		"one is of the old version":  {ptr.To[int32](1), []client.Object{deployment(1, func(s *appsv1.DeploymentStatus) { s.UpdatedReplicas = 0 })}, []string{"cm", "deploy", "svc"}, metav1.ConditionFalse},
		"the status is of the past":  {ptr.To[int32](1), []client.Object{deployment(1, func(s *appsv1.DeploymentStatus) { s.ObservedGeneration = 1 })}, []string{"cm", "deploy", "svc"}, metav1.ConditionFalse},
		"ready ones are not yet all": {ptr.To[int32](1), []client.Object{deployment(1, func(s *appsv1.DeploymentStatus) { s.ReadyReplicas, s.AvailableReplicas = 0, 0 })}, []string{"cm", "deploy", "svc"}, metav1.ConditionFalse},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			owner := app(c.replicas)
			before := owner.DeepCopy()
			plan := operator.Plan(owner, builder.NewView(time.Now(), c.seen...))
			assert.Equal(t, before, owner, "the owner is the cache's")
			var kinds []string
			for _, child := range plan.Children {
				assert.Equal(t, "hello", child.Object().GetName())
				kinds = append(kinds, kindOf(child.Object()))
			}
			assert.Equal(t, c.kinds, kinds)
			ready := meta.FindStatusCondition(plan.Status.Status.Conditions, builder.ConditionReady)
			require.NotNil(t, ready)
			assert.Equal(t, c.ready, ready.Status)
			assert.Equal(t, int64(3), ready.ObservedGeneration)
		})
	}
}

func kindOf(obj client.Object) string {
	switch obj.(type) {
	case *corev1.ConfigMap:
		return "cm"
	case *appsv1.Deployment:
		return "deploy"
	case *corev1.Service:
		return "svc"
	default:
		return "pdb"
	}
}

func TestPlanUsesTheSpec(t *testing.T) {
	owner := app(ptr.To[int32](2))
	owner.Spec.Command = []string{"web", "-v"}
	children := operator.Plan(owner, builder.NewView(time.Now())).Children
	assert.Equal(t, "Hi", children[0].Object().(*corev1.ConfigMap).Data["greeting"])
	servers := children[1].Object().(*appsv1.Deployment)
	assert.Equal(t, int32(2), *servers.Spec.Replicas)
	assert.Equal(t, "web:1", servers.Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, []string{"web", "-v"}, servers.Spec.Template.Spec.Containers[0].Command)
	assert.Equal(t, servers.Spec.Selector.MatchLabels, children[2].Object().(*corev1.Service).Spec.Selector)
}
