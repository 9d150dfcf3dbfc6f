package operator_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/events"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
	"github.com/armature-dev/armature/examples/webapp/operator"
)

func app(replicas *int32) *v1.WebApp {
	return &v1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello", Generation: 3},
		Spec:       v1.WebAppSpec{Image: "web:1", Greeting: "Hi", Replicas: replicas},
	}
}

func TestPlan(t *testing.T) {
	cases := map[string]struct {
		replicas *int32
		children string
	}{
		"two servers":            {ptr.To[int32](2), "*v1.ConfigMap *v1.Deployment *v1.Service *v1.PodDisruptionBudget"},
		"one has no budget":      {ptr.To[int32](1), "*v1.ConfigMap *v1.Deployment *v1.Service"},
		"replicas by default":    {nil, "*v1.ConfigMap *v1.Deployment *v1.Service"},
		"no server is wanted":    {ptr.To[int32](0), "*v1.ConfigMap *v1.Deployment *v1.Service"},
		"so many that one waits": {ptr.To[int32](1000), "*v1.ConfigMap *v1.Deployment *v1.Service *v1.PodDisruptionBudget"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			owner := app(c.replicas)
			before := owner.DeepCopy()
			view := buildertest.NewView(time.Now(), &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}, Status: appsv1.DeploymentStatus{ReadyReplicas: 1},
			})
			plan := operator.Plan(owner, view)
			assert.Equal(t, before, owner, "the owner is the cache's")
			var children []string
			for _, child := range plan.Children {
				assert.Equal(t, "hello", child.Object().GetName())
				children = append(children, fmt.Sprintf("%T", child.Object()))
			}
			assert.Equal(t, c.children, strings.Join(children, " "))
			assert.Equal(t, int32(1), plan.Status.Status.ReadyReplicas)
		})
	}
}

// The number of ready servers doesn't outlive their Deployment.
func TestWithoutADeploymentNoServerIsReady(t *testing.T) {
	owner := app(nil)
	owner.Status.ReadyReplicas = 2
	assert.Zero(t, operator.Plan(owner, buildertest.NewView(time.Now())).Status.Status.ReadyReplicas)
}

func TestPlanUsesTheSpec(t *testing.T) {
	owner := app(ptr.To[int32](2))
	owner.Spec.Command = []string{"web", "-v"}
	children := operator.Plan(owner, buildertest.NewView(time.Now())).Children
	assert.Equal(t, "Hi", children[0].Object().(*corev1.ConfigMap).Data["greeting"])
	servers := children[1].Object().(*appsv1.Deployment)
	assert.Equal(t, int32(2), *servers.Spec.Replicas)
	assert.Equal(t, "web:1", servers.Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, []string{"web", "-v"}, servers.Spec.Template.Spec.Containers[0].Command)
	assert.Equal(t, servers.Spec.Selector.MatchLabels, children[2].Object().(*corev1.Service).Spec.Selector)
}

// scenario is an app on an API server in memory, whose Deployments roll out.
func scenario(t *testing.T) buildertest.Scenario {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme))
	return world.ScenarioOf(operator.Operator, app(ptr.To[int32](2)), scheme, buildertest.WithCRDs("../config"))
}

func TestBecomesReady(t *testing.T) {
	s := scenario(t)
	server := buildertest.Settle(t, s)
	found := &v1.WebApp{}
	require.NoError(t, server.Client().Get(t.Context(), s.Requests[0].NamespacedName, found))
	assert.True(t, meta.IsStatusConditionTrue(found.Status.Conditions, events.ConditionReady))
	assert.Equal(t, int32(2), found.Status.ReadyReplicas)
}

func TestCrashesAnywhere(t *testing.T) {
	buildertest.CrashEverywhere(t, scenario(t))
}

// In every order, with a crash and a stale cache at any moment, and a user who changes the image at any moment.
func TestEveryOrder(t *testing.T) {
	s := scenario(t)
	s.Then = []buildertest.Edit{buildertest.Change(app(nil), func(app *v1.WebApp) { app.Spec.Image = "web:2" })}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Edits: 1, WholeWorkloads: true})
	assert.True(t, report.Exhausted)
}

// The generated role has what the operator needs, and no more.
func TestRole(t *testing.T) {
	s := scenario(t)
	s.Then = []buildertest.Edit{buildertest.Change(app(nil), func(app *v1.WebApp) { app.Spec.Replicas = ptr.To[int32](1) })}
	buildertest.CheckRole(t, "../role.yaml", scenario(t), s)
}

// What the README shows is what is here.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("operator.go")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	snippet, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	assert.Contains(t, string(source), snippet)
	assert.Contains(t, snippet, "func Plan(")
	assert.Contains(t, snippet, "Owns(")
}
