package dsoi

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	kv "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
	"github.com/armature-dev/armature/internal/wellknown"
)

func setupKV(mgr manager.Manager) error { return operator.App("").Setup(mgr) }

// theStore is a store of all three types, as DSOI's older documents have it: maps, and names that have changed since.
const theStore = `
spec:
  order: [coordinator, storage, gateway]
  external: {zookeeper: {spec: {zkConnections: "zk:2181"}}}
  nodeK8sConfigGroup:
    small: {image: "kv:v1", minReadySeconds: 0, port: [{containerPort: 7070}]}
    data:
      image: "kv:v1"
      minReadySeconds: 0
      port: [{containerPort: 7070}]
      podDisruptionBudget: {maxUnavailable: 1}
      storageConfig:
      - {name: data, mountPath: /data, spec: {accessModes: [ReadWriteOnce], storageClassName: CLASS, resources: {requests: {storage: 1Gi}}}}
    front: {image: "kv:v1", minReadySeconds: 0, service: {ports: [{port: 80}]}}
  nodeAppConfigGroup:
    common: {commonRuntimeProperties: "a=1"}
    storage: {runtimeProperties: "b=2", overrideProperties: "a=3"}
  nodes:
    coordinator: [{name: c, kind: Deployment, replicas: 1, nodeK8sConfigGroup: small, nodeAppConfigGroup: [common]}]
    storage: [{name: s, kind: Statefulset, replicas: 2, nodeK8sConfigGroup: data, nodeAppConfigGroup: [common, storage]}]
    gateway: [{name: g, kind: daemonset, nodeK8sConfigGroup: front, nodeAppConfigGroup: common}]
`

func (w *world) store(class string) *kv.KVStore {
	w.create(&kv.KVStore{}, "x", strings.ReplaceAll(theStore, "CLASS", class))
	return becomesReady(w, &kv.KVStore{}, "x")
}

// image sets that of config groups, in one change.
func (w *world) image(image string, groups ...string) {
	w.Helper()
	w.imageOn(image, nil, groups...)
}

// badImage sets an image whose pods never become ready: no node has the label that they need. So they wait until crash lets them fail.
func (w *world) badImage(groups ...string) {
	w.Helper()
	w.imageOn(bad, map[string]string{"runs": bad}, groups...)
}

const bad = "bad"

// imageOn sets the image of config groups, and on which nodes it runs, in one change.
func (w *world) imageOn(image string, nodes map[string]string, groups ...string) {
	w.Helper()
	change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) {
		for i := range x.Spec.NodeK8sConfigGroup {
			if g := &x.Spec.NodeK8sConfigGroup[i]; slices.Contains(groups, g.Name) {
				g.Image, g.NodeSelector = image, nodes
			}
		}
	})
}

func (w *world) running(obj client.Object, name string) string {
	w.Helper()
	read(w, obj, name)
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return o.Spec.Template.Spec.Containers[0].Image
	case *appsv1.StatefulSet:
		return o.Spec.Template.Spec.Containers[0].Image
	case *appsv1.DaemonSet:
		return o.Spec.Template.Spec.Containers[0].Image
	default:
		return ""
	}
}

func TestInstallAndUpgrade(t *testing.T) {
	t.Parallel()
	var passes atomic.Int64
	w := newWorld(t, func(mgr manager.Manager) error {
		app := operator.App("")
		return app.Operator(mgr).Plan(func(x *kv.KVStore, seen builder.View) builder.Plan[*kv.KVStore] {
			passes.Add(1)
			return app.Plan(x, seen)
		}).Complete()
	})
	x := w.store(w.class(false))
	assert.Equal(t, v1beta1.ClusterRunning, x.Status.Phase)
	require.Len(t, x.Status.NodeTypes, 3)
	assert.EqualValues(t, 2, x.Status.NodeTypes[1].Ready)
	assert.EqualValues(t, 4, x.Status.NodeTypes[2].Desired, "one on each node")
	assert.Nil(t, x.Status.Upgrade)
	config := read(w, &corev1.ConfigMap{}, "x-s-config")
	assert.Equal(t, map[string]string{"runtime.properties": "a=3\nb=2\n", "external-zookeeper.json": `{"zkConnections":"zk:2181"}`}, config.Data)
	assert.True(t, w.exists(&policyv1.PodDisruptionBudget{}, "x-s"))
	assert.True(t, w.exists(&corev1.Service{}, "x-s-headless"))
	assert.True(t, w.exists(&corev1.Service{}, "x-g"))
	first := x.Status.Revision

	// Nothing has changed: a pass makes no request. Each touch is a pass; when one comes, the one before is over.
	touch := func(with string) {
		before := passes.Load()
		change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) { x.Labels = map[string]string{"touched": with} })
		w.eventually("a pass", func() bool { return passes.Load() > before })
	}
	touch("once")
	touch("twice")
	before := w.requests.total.Load()
	touch("again")
	touch("at-last")
	assert.Equal(t, before, w.requests.total.Load())

	// Only the type that changes is written to.
	var versions []string
	others := func() []string {
		versions = nil
		for name, obj := range map[string]client.Object{"x-c": &appsv1.Deployment{}, "x-c-config": &corev1.ConfigMap{}, "x-g-config": &corev1.ConfigMap{}} {
			versions = append(versions, read(w, obj, name).GetResourceVersion())
		}
		versions = append(versions, read(w, &appsv1.DaemonSet{}, "x-g").Annotations[wellknown.AnnotationDigest])
		return versions
	}
	was := others()
	w.image("kv:v2", "data")
	w.eventually("the upgrade", func() bool {
		return becomesReady(w, x, "x").Status.Upgrade != nil && x.Status.Phase == v1beta1.ClusterRunning
	})
	assert.ElementsMatch(t, was, others())
	assert.Equal(t, "kv:v2", w.running(&appsv1.StatefulSet{}, "x-s"))
	assert.Equal(t, first, x.Status.Upgrade.FromRevision)
	assert.Equal(t, x.Status.Revision, x.Status.Upgrade.ToRevision)
	require.NotNil(t, x.Status.Upgrade.FinishedAt)
	assert.Equal(t, x.Status.Upgrade.FinishedAt.Sub(x.Status.Upgrade.StartedAt.Time).String(), x.Status.Upgrade.Duration)

	for _, reason := range []string{"Created", "Updated", "RolloutStarted", "RolloutCompleted", "NodeTypeUpgrading", "NodeTypeReady"} {
		w.eventually("an event "+reason, func() bool { return len(w.told(reason)) > 0 })
	}
}

// crash lets a pod of badImage look as if it crashed: simulated nodes run nothing that could. It returns false if there is none yet.
func (w *world) crash(node string) bool {
	w.Helper()
	var pods corev1.PodList
	require.NoError(w, w.client.List(w.Context(), &pods, client.InNamespace(w.namespace), client.MatchingLabels{"dsoi.armature.dev/node": node}))
	for i := range pods.Items {
		pod := &pods.Items[i]
		container := pod.Spec.Containers[0]
		if container.Image != bad || pod.DeletionTimestamp != nil {
			continue
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: container.Name, Image: bad,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}},
		}}
		return w.client.Status().Update(w.Context(), pod) == nil
	}
	return false
}

func TestACrashHaltsAndIsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(mgr manager.Manager) error {
		app := operator.App("")
		app.StuckAfter = 24 * time.Hour // only a crash halts it
		return app.Setup(mgr)
	})
	w.store(w.class(false))
	w.badImage("data", "front")
	w.eventually("a pod of the bad image", func() bool { return w.crash("s") })
	x := &kv.KVStore{}
	w.eventually("the upgrade to halt", func() bool { return is(read(w, x, "x"), events.ConditionStalled, metav1.ConditionTrue) })
	stalled := meta.FindStatusCondition(x.Status.Conditions, events.ConditionStalled)
	assert.Equal(t, "RolloutHalted", stalled.Reason)
	assert.Contains(t, stalled.Message, "node s: pod x-s-")
	assert.Contains(t, stalled.Message, "CrashLoopBackOff")
	assert.Equal(t, v1beta1.ClusterHalted, x.Status.Phase)
	assert.Equal(t, "kv:v1", w.running(&appsv1.DaemonSet{}, "x-g"), "later types are as they were")
	w.eventually("an event", func() bool { return len(w.told("RolloutHalted")) > 0 })
	halts := w.told("RolloutHalted")
	assert.Len(t, halts, 1)
	assert.Regexp(t, `phase storage: .*node s: pod x-s-\d: container s: CrashLoopBackOff`, halts[0])

	w.image("kv:v2", "data", "front")
	w.eventually("it to go on", func() bool {
		return becomesReady(w, x, "x").Status.Phase == v1beta1.ClusterRunning && w.running(&appsv1.DaemonSet{}, "x-g") == "kv:v2"
	})
	assert.Equal(t, "kv:v2", w.running(&appsv1.StatefulSet{}, "x-s"), "the pod that crashed is replaced")
}

func TestRollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupKV)
	w.store(w.class(false))
	change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) {
		x.Spec.OnFailure, x.Spec.UpgradeTimeout = v1beta1.FailureRollback, "5s"
	})
	w.badImage("data")
	x := &kv.KVStore{}
	w.eventually("the rollback", func() bool {
		w.crash("s") // until the rollback deletes it: with or without a crash, its node isn't ready in time
		return read(w, x, "x").Status.Phase == v1beta1.ClusterRolledBack && w.running(&appsv1.StatefulSet{}, "x-s") == "kv:v1"
	})
	assert.Equal(t, x.Status.Revision, x.Status.Upgrade.FromRevision)
	for _, g := range x.Spec.NodeK8sConfigGroup {
		assert.Equal(t, g.Name == "data", g.Image == bad, "the spec is never edited")
	}
	w.eventually("all pods to be back", func() bool {
		s := read(w, &appsv1.StatefulSet{}, "x-s")
		return s.Status.ReadyReplicas == 2 && s.Status.CurrentRevision == s.Status.UpdateRevision
	})
}

func TestMistakesChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupKV)
	x := &kv.KVStore{}
	w.create(x, "x", strings.NewReplacer("CLASS", "none", "nodeK8sConfigGroup: front", "nodeK8sConfigGroup: frnt").Replace(theStore))
	w.create(&kv.KVStore{}, "scalar", `{spec: {nodes: 7, k8sConfigGroup: true, external: [], appConfigGroup: {a: {files: 3}}, upgradeTimeout: "x"}}`)
	w.eventually("the mistake to be told", func() bool { return is(read(w, x, "x"), events.ConditionStalled, metav1.ConditionTrue) })
	c := meta.FindStatusCondition(x.Status.Conditions, events.ConditionReady)
	assert.Equal(t, "InvalidSpec", c.Reason)
	assert.Equal(t, `nodes[1] "g": k8sConfigGroup: there is no group "frnt"; there are "data", "front", "small"`, c.Message)
	var maps corev1.ConfigMapList
	require.NoError(t, w.client.List(t.Context(), &maps, client.InNamespace(w.namespace), client.HasLabels{"dsoi.armature.dev/cluster"}))
	assert.Empty(t, maps.Items)
	scalar := &kv.KVStore{}
	w.eventually("one that can't be read hides no other", func() bool { return is(read(w, scalar, "scalar"), events.ConditionStalled, metav1.ConditionTrue) })
	assert.Contains(t, meta.FindStatusCondition(scalar.Status.Conditions, events.ConditionReady).Message, "want a list of nodes")
}

func TestDataOfANode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupKV)
	w.store(w.class(false))
	reclaim := func(policy v1beta1.ReclaimPolicy) {
		change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) {
			for i := range x.Spec.Nodes {
				x.Spec.Nodes[i].Reclaim = policy
			}
		})
	}
	var taken v1beta1.Nodes
	without := func() {
		change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) {
			x.Spec.Order = []string{"coordinator", "gateway"}
			taken = x.Spec.Nodes.DeepCopy()
			var left v1beta1.Nodes
			for _, n := range x.Spec.Nodes {
				if n.NodeType != "storage" {
					left = append(left, n)
				}
			}
			x.Spec.Nodes = left
		})
		w.eventually("the node to go", func() bool {
			return !w.exists(&appsv1.StatefulSet{}, "x-s") && !w.exists(&corev1.Service{}, "x-s-headless")
		})
		becomesReady(w, &kv.KVStore{}, "x")
	}
	without()
	claim := read(w, &corev1.PersistentVolumeClaim{}, "data-x-s-0")
	assert.Nil(t, claim.DeletionTimestamp, "its data is kept")
	change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) {
		x.Spec.Order, x.Spec.Nodes = []string{"coordinator", "storage", "gateway"}, taken
	})
	w.eventually("the node to come back", func() bool { return w.exists(&appsv1.StatefulSet{}, "x-s") })
	becomesReady(w, &kv.KVStore{}, "x")
	assert.Equal(t, claim.UID, read(w, &corev1.PersistentVolumeClaim{}, "data-x-s-0").UID, "and has its data")

	reclaim(v1beta1.ReclaimDelete)
	w.eventually("the claims to be the StatefulSet's", func() bool { return len(read(w, claim, "data-x-s-0").OwnerReferences) > 0 })
	without()
	w.eventually("the data to go", func() bool { return !w.exists(&corev1.PersistentVolumeClaim{}, "data-x-s-0") })
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupKV)
	x := w.store(w.class(false))
	require.NoError(t, w.client.Delete(t.Context(), x))
	w.eventually("all but the data to go", func() bool {
		return !w.exists(&appsv1.StatefulSet{}, "x-s") && !w.exists(&appsv1.Deployment{}, "x-c") && !w.exists(&appsv1.DaemonSet{}, "x-g") &&
			!w.exists(&corev1.ConfigMap{}, "x-s-config") && !w.exists(&corev1.Service{}, "x-g")
	})
	assert.True(t, w.exists(&corev1.PersistentVolumeClaim{}, "data-x-s-0"))
}

func TestAStorageConfigThatGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupKV)
	w.store(w.class(true))
	change(w, &kv.KVStore{}, "x", func(x *kv.KVStore) {
		for i := range x.Spec.NodeK8sConfigGroup {
			if g := &x.Spec.NodeK8sConfigGroup[i]; g.Name == "data" {
				g.StorageConfig[0].Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
			}
		}
	})
	w.eventually("the claims to grow", func() bool {
		a, b := read(w, &corev1.PersistentVolumeClaim{}, "data-x-s-0"), read(w, &corev1.PersistentVolumeClaim{}, "data-x-s-1")
		return a.Spec.Resources.Requests.Storage().String() == "2Gi" && b.Spec.Resources.Requests.Storage().String() == "2Gi"
	})
	becomesReady(w, &kv.KVStore{}, "x")
}
