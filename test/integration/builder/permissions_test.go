package builder_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/testcluster"
)

// allowed returns rules: an API group, resources, verbs.
func allowed(rules ...[3][]string) []rbacv1.PolicyRule {
	var all []rbacv1.PolicyRule
	for _, r := range rules {
		all = append(all, rbacv1.PolicyRule{APIGroups: r[0], Resources: r[1], Verbs: r[2]})
	}
	return all
}

// TestDocumentedPermissionsSuffice runs an operator that has what the package's documentation lists, and no more, through
// all that needs a permission: children at home and elsewhere, phases, pruning, drift, status, events, the owner's end.
func TestDocumentedPermissionsSuffice(t *testing.T) {
	is := func(s ...string) []string { return s }
	read := is("get", "list", "watch")
	with := func(more ...string) []string { return append(slices.Clone(read), more...) }
	rules := allowed(
		[3][]string{is("test.armature.dev"), is("widgets"), with("patch")},
		[3][]string{is("test.armature.dev"), is("widgets/status"), is("patch")},
		[3][]string{is("test.armature.dev"), is("widgets/finalizers"), is("update")},
		[3][]string{is(""), is("configmaps"), with("create", "patch", "delete")},
		[3][]string{is("apps"), is("deployments", "controllerrevisions"), with("create", "patch", "delete")},
		[3][]string{is("rbac.authorization.k8s.io"), is("clusterroles"), with("create", "patch", "delete")},
		[3][]string{is(""), is("secrets"), read},
		[3][]string{is("events.k8s.io"), is("events"), is("create", "patch")},
	)
	testcluster.InstallCRDs(t, "testdata/crd")
	w := &world{t: t, ctx: t.Context(), ns: testcluster.Namespace(t), sent: &ledger{}}
	var err error
	w.live, err = client.New(testcluster.Config(t), client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	name := "limited-" + w.ns
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	}
	for _, obj := range []client.Object{role, binding} {
		require.NoError(t, w.live.Create(w.ctx, obj))
		t.Cleanup(func() { _ = w.live.Delete(context.Background(), obj) })
	}
	cfg := testcluster.Config(t)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name}
	limited, err := client.New(cfg, client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	w.eventually(func() bool { return limited.List(w.ctx, &rbacv1.ClusterRoleList{}) == nil }, "the role to count")

	far := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "child-" + w.ns}}
	plan := func(owner *Widget, _ builder.View) builder.Plan[*Widget] {
		if owner.Namespace != w.ns {
			return builder.Plan[*Widget]{}
		}
		web := webDeployment()
		web.Spec.Template.Labels["version"] = owner.Spec.Data["version"]
		children := []builder.Child{builder.Want(web, builder.InPhase("web")), builder.Want(far, builder.CrossNamespace())}
		for _, name := range owner.Spec.Children {
			children = append(children, builder.Want(configMap(name, "a", owner.Spec.Data["version"])))
		}
		return builder.Plan[*Widget]{Children: children, PruneAll: true, Rollout: rollout.Options{Phases: []string{"web"}}, Report: true}
	}
	o := &operated{world: w, widget: &Widget{Spec: WidgetSpec{Children: []string{"a", "b"}, Data: map[string]string{"version": "1"}}}}
	o.widget.Name, o.widget.Namespace = "widget", w.ns
	require.NoError(t, w.live.Create(w.ctx, o.widget))
	mgr := newManager(t, w.sent.watch(cfg))
	w.cached = mgr.GetClient()
	require.NoError(t, builder.NewOperator[*Widget](mgr, "limited").
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Owns(&appsv1.ControllerRevision{}).
		Owns(&rbacv1.ClusterRole{}, builder.CrossNamespace()).
		Watches(&corev1.Secret{}, builder.ReferencedBy(func(w *Widget) []string { return []string{w.Spec.Source} })).
		Plan(plan).Complete())
	start(t, mgr)

	ready := func() bool {
		c := o.condition(events.ConditionReady)
		return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.get(o.widget).GetGeneration()
	}
	o.eventually(ready, "the first install")
	o.change(func(w *Widget) { w.Spec.Data["version"], w.Spec.Children = "2", []string{"b"} })
	o.eventually(func() bool { return ready() && !o.exists(configMap("a")) }, "a roll-out, and a child pruned")
	assert.Equal(t, "2", o.get(webDeployment()).(*appsv1.Deployment).Spec.Template.Labels["version"])
	o.change(func(w *Widget) { w.Spec.Children = nil })
	o.eventually(func() bool { return ready() && !o.exists(configMap("b")) }, "the last of its kind pruned")
	o.eventually(func() bool { return o.heard(events.ReasonCreated) > 0 && o.heard(events.ReasonRolloutCompleted) > 0 }, "events")
	require.NoError(t, w.live.Delete(w.ctx, o.get(o.widget)))
	o.eventually(func() bool {
		return !o.exists(o.widget) && apierrors.IsNotFound(w.live.Get(w.ctx, client.ObjectKeyFromObject(far), far))
	}, "the owner and its child elsewhere to go")
}
