package dsoi

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/rbac"
	kv "github.com/armature-dev/armature/examples/kvstore/api/v1"
)

// TestPermissions runs the operator with the rights that the example gives it, lets it do what it ever does, and holds
// what it asked for against them.
func TestPermissions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../examples/kvstore/role.yaml")
	require.NoError(t, err)
	role := &rbacv1.ClusterRole{}
	require.NoError(t, yaml.UnmarshalStrict(text, role))

	w := newWorld(t, nil)
	role.Name = w.namespace
	user := "operator-of-" + w.namespace
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, obj := range []client.Object{role, binding} {
		require.NoError(t, w.client.Create(t.Context(), obj))
		t.Cleanup(func() { assert.NoError(t, w.client.Delete(context.Background(), obj)) })
	}
	w.start(setupBoth, func(c *rest.Config) { c.Impersonate.UserName = user })

	w.store(w.class(true))
	g := newGauge(t, 100)
	w.scale(g, `
{name: s, spec: {minReplica: 1, maxReplica: 3, threshold: 50, coolDown: 1},
 storage: [{name: data, threshold: 80, increase: 1Gi, max: 2Gi, coolDown: 1h}]},
{name: c, spec: {max: 3, threshold: 80, source: {resource: cpu}}}`)
	w.eventually("pods and volumes to be scaled", func() bool {
		size := read(w, &corev1.PersistentVolumeClaim{}, "data-x-s-0").Spec.Resources.Requests.Storage().String()
		return w.replicas() == 3 && size == "2Gi" && w.exists(&autoscalingv2.HorizontalPodAutoscaler{}, "x-c")
	})
	change(w, &kv.KVStoreScaling{}, "x", func(s *kv.KVStoreScaling) { s.Spec.Autoscaling[1].Spec.Enable = new(false) })
	w.eventually("the autoscaler to go", func() bool { return !w.exists(&autoscalingv2.HorizontalPodAutoscaler{}, "x-c") })

	w.image("kv:v2", "data", "small", "front")
	w.eventually("the upgrade", func() bool {
		x := becomesReady(w, &kv.KVStore{}, "x")
		return x.Status.Upgrade != nil && x.Status.Phase == v1beta1.ClusterRunning && w.running(&appsv1.DaemonSet{}, "x-g") == "kv:v2"
	})
	change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) {
		x.Spec.Order = []string{"coordinator"}
		x.Spec.Nodes = slices.DeleteFunc(x.Spec.Nodes, func(n v1beta1.Node) bool { return n.Name != "c" })
	})
	w.eventually("nodes to go", func() bool {
		return !w.exists(&appsv1.StatefulSet{}, "x-s") && !w.exists(&corev1.Service{}, "x-g") && !w.exists(&appsv1.DaemonSet{}, "x-g")
	})
	becomesReady(w, &kv.KVStore{}, "x")

	allowed := map[string]bool{}
	for _, p := range rbac.Permissions(role.Rules) {
		allowed[p.String()] = true
	}
	used := w.requests.verbs()
	for verb := range used {
		assert.True(t, allowed[verb], "%s is asked for, and not allowed", verb)
		assert.NotContains(t, verb, "persistentvolumes", "only claims are its business")
	}
	for _, want := range []string{
		"patch kvstores/status.examples.armature.dev", "create statefulsets.apps", "patch statefulsets.apps", "delete statefulsets.apps",
		"delete services", "delete configmaps", "delete poddisruptionbudgets.policy", "create controllerrevisions.apps",
		"patch controllerrevisions.apps", "patch statefulsets/scale.apps", "patch persistentvolumeclaims", "get secrets",
		"create horizontalpodautoscalers.autoscaling", "delete horizontalpodautoscalers.autoscaling",
		"patch kvstorescalings/status.examples.armature.dev", "create events.events.k8s.io",
	} {
		assert.True(t, used[want], "%s is in the role, and never asked for; used are %v", want, slices.Sorted(maps.Keys(used)))
	}
}
