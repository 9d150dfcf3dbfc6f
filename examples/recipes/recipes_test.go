package recipes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/events"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

func app() *v1.WebApp {
	return &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: v1.WebAppSpec{Image: "web:1"}}
}

// recipe is an app in a simulated cluster, and an operator of it.
func recipe(t *testing.T, o *builder.Operator[*v1.WebApp], objs ...client.Object) buildertest.Scenario {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme))
	s := world.ScenarioOf(func(manager.Manager) *builder.Operator[*v1.WebApp] { return o }, app(), scheme, buildertest.WithCRDs("../webapp/config"))
	s.Objects = append(s.Objects, objs...)
	s.Foreign = func(client.Object) bool { return false }
	return s
}

// get reads an object, as it is in the end.
func get[T client.Object](t *testing.T, server *buildertest.Server, obj T) T {
	t.Helper()
	require.NoError(t, server.Client("user").Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
	return obj
}

func TestWaiting(t *testing.T) {
	s := recipe(t, Waiting(nil))
	server := buildertest.Settle(t, s)
	ready := meta.FindStatusCondition(get(t, server, app()).Status.Conditions, events.ConditionReady)
	assert.Equal(t, metav1.ConditionFalse, ready.Status)
	assert.Equal(t, "Waiting: waiting for Secret shop/web-tls", ready.Reason+": "+ready.Message)

	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error {
		return c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-tls"}})
	}}
	server = buildertest.Settle(t, s)
	assert.True(t, meta.IsStatusConditionTrue(get(t, server, app()).Status.Conditions, events.ConditionReady))
	buildertest.CrashEverywhere(t, s)
}

func TestRenamed(t *testing.T) {
	former := func(manager.Manager) *builder.Operator[*v1.WebApp] {
		return builder.NewOperator[*v1.WebApp](nil, "renamed").Owns(&appsv1.Deployment{}).
			Plan(func(app *v1.WebApp, _ builder.View) builder.Plan[*v1.WebApp] {
				return builder.Plan[*v1.WebApp]{Report: true, Children: []builder.Child{builder.Want(servers(app))}}
			})
	}
	named := func(name string) *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	old := get(t, buildertest.Settle(t, recipe(t, former(nil))), named("web"))
	view := buildertest.NewView(time.Now(), old, named("web-servers"))
	plan, err := buildertest.PlanFor(Renamed(nil), app(), view)
	require.NoError(t, err)
	require.Len(t, plan.Children, 2, "the new one isn't ready")

	old.ResourceVersion = ""
	s := recipe(t, Renamed(nil), old)
	server := buildertest.Settle(t, s)
	var left appsv1.DeploymentList
	require.NoError(t, server.Client("user").List(t.Context(), &left))
	require.Len(t, left.Items, 1)
	assert.Equal(t, "web-servers", left.Items[0].Name)
	buildertest.CrashEverywhere(t, s)
}

func TestClaims(t *testing.T) {
	claim := func(name string) *corev1.PersistentVolumeClaim {
		c := storage(app(), resource.MustParse("1Gi")).Spec.VolumeClaimTemplates[0].DeepCopy()
		c.Namespace, c.Name, c.Labels = "shop", name, labels(app())
		return c
	}
	s := recipe(t, Claims(nil), claim("data-web-0"), claim("data-web-1"), claim("data-web-db-0"), claim("unrelated"))
	s.Then = []buildertest.Edit{buildertest.Change(app(), func(app *v1.WebApp) {
		app.Annotations = map[string]string{"example.com/volume-size": "2Gi"}
	})}
	server := buildertest.Settle(t, s)
	sizes := map[string]string{"data-web-0": "2Gi", "data-web-1": "2Gi", "data-web-db-0": "1Gi", "unrelated": "1Gi"}
	for name, size := range sizes {
		assert.Equal(t, size, get(t, server, claim(name)).Spec.Resources.Requests.Storage().String(), name)
	}
	set := get(t, server, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	assert.Equal(t, "2Gi", set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String())
}

// The claims of someone else's StatefulSet of the same name stay as they are: the view has only the owner's sets.
func TestClaimsOfOthers(t *testing.T) {
	web := app()
	web.Annotations = map[string]string{"example.com/volume-size": "10Ti"}
	set := storage(web, resource.MustParse("1Gi"))
	claim := set.Spec.VolumeClaimTemplates[0].DeepCopy()
	claim.Namespace, claim.Name, claim.Labels = "shop", "data-web-0", labels(web)
	view := buildertest.WithWatched(buildertest.NewView(time.Now(), set), claim)
	assert.Len(t, planClaims(web, view).Edits, 1)
	view = buildertest.WithWatched(buildertest.NewView(time.Now()), claim)
	assert.Empty(t, planClaims(web, view).Edits)
}

// Tenants of different owners never share a namespace, and its name is valid for each valid name of an owner.
func TestTenantsHaveNamespacesOfTheirOwn(t *testing.T) {
	owners := map[string]string{}
	for _, at := range [][2]string{{"a-b", "c"}, {"a", "b-c"}, {"a", "b.c"}, {strings.Repeat("n", 63), strings.Repeat("w", 253)}} {
		app := &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: at[0], Name: at[1]}}
		home := planTenants(app, buildertest.NewView(time.Now())).Children[0].Object().GetName()
		assert.Empty(t, validation.IsDNS1123Label(home), home)
		assert.Empty(t, owners[home], "%s of %v", home, at)
		owners[home] = at[0] + "/" + at[1]
	}
}

func TestTenants(t *testing.T) {
	s := recipe(t, Tenants(nil))
	server := buildertest.Settle(t, s)
	get(t, server, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(app()), Name: "tenant"}})
	buildertest.CrashEverywhere(t, s)
}

func TestExternal(t *testing.T) {
	tasks, down := int32(25), error(nil)
	ask := func(context.Context, string) (int32, error) { return tasks, down }
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	s := recipe(t, External(nil, ask))
	assert.Equal(t, int32(3), *get(t, buildertest.Settle(t, s), deployment.DeepCopy()).Spec.Replicas)

	s.Then = []buildertest.Edit{func(context.Context, client.Client) error { down = errors.New("no route"); return nil }}
	assert.Equal(t, int32(3), *get(t, buildertest.Settle(t, s), deployment.DeepCopy()).Spec.Replicas, "as many as there are")

	s.Then = nil
	ready := meta.FindStatusCondition(get(t, buildertest.Settle(t, s), app()).Status.Conditions, events.ConditionReady)
	assert.Equal(t, "waiting for the queue: no route", ready.Message)
}
