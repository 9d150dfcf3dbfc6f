// Package kvstore_test runs the example of a distributed store on a real API server, and its nodes as processes on local
// nodes.
package kvstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/events"
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
	"github.com/armature-dev/armature/examples/kvstore/store"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 3 * time.Minute // an upgrade replaces seven processes, one after the other

// TestMain lets this binary be the store's program as well, as which it is called below.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if len(os.Args) > 1 && slices.Contains(store.Types, os.Args[1]) {
		if err := store.RunNode(ctrl.SetupSignalHandler(), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(testcluster.Run(m, testcluster.WithNodes("node-1", "node-2")))
}

// world is a running operator and a store in a namespace.
type world struct {
	*harness.Place
	store *store.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	p := harness.Connect(t, "KVStore", patience, "examples/kvstore/config", v1.AddToScheme)
	programs := t.TempDir()
	require.NoError(t, os.Symlink(harness.Self(t), filepath.Join(programs, "kvstore")))
	for name, script := range map[string]string{"idle": "exec sleep 1000", "crashing": "sleep 1; exit 3"} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755)) //nolint:gosec // it is run
	}
	options := p.Options()
	seen := operator.Cache()
	seen.DefaultNamespaces = options.Cache.DefaultNamespaces // tests run side by side
	options.Cache = seen
	mgr := p.NewManager(testcluster.Config(t), options)
	require.NoError(t, operator.Setup(mgr, programs))
	p.Start(mgr)
	kv := store.NewClient(p.Client, p.Namespace, "demo")
	kv.Patience = patience // a busy machine may stop all gateways for longer than people wait; a read that has lost its value fails at once
	return &world{p, kv}
}

// apply creates the objects of a manifest of the example.
func (w *world) apply(file string, replace ...string) {
	w.T.Helper()
	text, err := os.ReadFile(filepath.Join("../../../examples/kvstore", file))
	require.NoError(w.T, err)
	for document := range strings.SplitSeq(strings.NewReplacer(replace...).Replace(string(text)), "\n---\n") {
		obj := &unstructured.Unstructured{}
		require.NoError(w.T, yaml.Unmarshal([]byte(document), &obj.Object))
		obj.SetNamespace(w.Namespace)
		require.NoError(w.T, w.Client.Create(w.T.Context(), obj))
	}
}

// volumes makes volumes of a class that only this test has.
func (w *world) volumes(n int) (class string) {
	dir := w.T.TempDir()
	for i := range n {
		pv := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(w.Namespace, "-", i)},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, StorageClassName: w.Namespace,
				AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: filepath.Join(dir, fmt.Sprint(i))}},
			},
		}
		require.NoError(w.T, w.Client.Create(w.T.Context(), pv))
		w.T.Cleanup(func() { _ = w.Client.Delete(context.Background(), pv) })
	}
	return w.Namespace
}

func read[T client.Object](w *world, obj T, name string) T {
	w.T.Helper()
	w.Get(name, obj)
	return obj
}

func (w *world) demo() *v1.KVStore { w.T.Helper(); return read(w, &v1.KVStore{}, "demo") }

func (w *world) change(change func(*v1.KVStore)) {
	w.T.Helper()
	w.RetryOnConflict("the change", func() error {
		demo := w.demo()
		change(demo)
		return w.Client.Update(w.T.Context(), demo)
	})
}

// group returns a Kubernetes config group of the store's.
func group(demo *v1.KVStore, name string) *v1beta1.K8sConfigGroup {
	for i := range demo.Spec.K8sConfigGroup {
		if demo.Spec.K8sConfigGroup[i].Name == name {
			return &demo.Spec.K8sConfigGroup[i]
		}
	}
	return nil
}

func (w *world) becomesReady() {
	w.T.Helper()
	w.Eventually("the store to be ready", func() bool {
		demo := w.demo()
		c := meta.FindStatusCondition(demo.Status.Conditions, events.ConditionReady)
		return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == demo.Generation &&
			demo.Status.ObservedGeneration == demo.Generation && demo.Status.Phase == v1beta1.ClusterRunning
	})
}

func (w *world) reads(key, want string) {
	w.T.Helper()
	data, found, err := w.store.Get(w.T.Context(), key)
	require.NoError(w.T, err)
	require.True(w.T, found, "%s is lost", key)
	require.Equal(w.T, want, data)
}

// TestKVStore is the life of a store, as hack/example-kvstore.sh shows it.
func TestKVStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	class := w.volumes(4)
	w.apply("rbac.yaml")
	w.apply("sample.yaml", "storageClassName: kvstore", "storageClassName: "+class)
	w.becomesReady()
	require.NoError(t, w.store.Put(t.Context(), "greeting", "Ahoy"))
	w.reads("greeting", "Ahoy")

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	load, err := store.StartLoad(ctx, w.store, 2)
	require.NoError(t, err)

	// A change of configuration replaces all nodes, in order, without a read being lost.
	w.change(func(demo *v1.KVStore) {
		demo.Spec.AppConfigGroup[0].CommonRuntimeProperties = "replicas=2\nmotto=ahoy\n"
	})
	w.Eventually("the upgrade to begin", func() bool { return w.demo().Status.Upgrade != nil })
	w.becomesReady()
	var started []time.Time
	for _, kind := range store.Types {
		var mottos []string
		w.Eventually("the configuration of "+kind, func() (answered bool) {
			var err error
			mottos, err = w.store.Config(t.Context(), kind, "motto") // a node has two seconds to answer
			return err == nil
		})
		for _, motto := range mottos {
			assert.Equal(t, "ahoy", motto, kind)
		}
		oldest, newest := w.started(kind)
		if len(started) > 0 {
			assert.False(t, oldest.Before(started[len(started)-1]), "%s was replaced before the type before it", kind)
		}
		started = append(started, newest)
	}
	assert.NotEmpty(t, w.demo().Status.Upgrade.Duration)

	// An image that can't start halts the upgrade, and is mended.
	w.change(func(demo *v1.KVStore) {
		group(demo, "data").Image = "kvstore-broken:v2"
		group(demo, "front").Image = "kvstore:v2"
	})
	w.Eventually("the upgrade to halt", func() bool { return w.demo().Status.Phase == v1beta1.ClusterHalted })
	stalled := meta.FindStatusCondition(w.demo().Status.Conditions, events.ConditionStalled)
	assert.Equal(t, "RolloutHalted", stalled.Reason)
	assert.Regexp(t, `node storage: pod demo-storage-2: container storage: (CrashLoop|crashed again).*exit code 127`, stalled.Message)
	assert.Equal(t, "kvstore:v1", read(w, &appsv1.Deployment{}, "demo-gateway").Spec.Template.Spec.Containers[0].Image)
	w.reads("greeting", "Ahoy")
	w.change(func(demo *v1.KVStore) { group(demo, "data").Image = "kvstore:v2" })
	w.becomesReady()
	assert.Equal(t, "kvstore:v2", read(w, &appsv1.Deployment{}, "demo-gateway").Spec.Template.Spec.Containers[0].Image)

	// Under load a storage node is added, by what the coordinator says.
	coordinator := w.pods(store.Coordinator)[0].Status.PodIP
	w.apply("scaling.yaml", "COORDINATOR", coordinator, "threshold: 100", `threshold: "0.5"`, "maxReplica: 5", "maxReplica: 4")
	w.Eventually("the store to be scaled", func() bool {
		s := read(w, &appsv1.StatefulSet{}, "demo-storage")
		return *s.Spec.Replicas == 4 && s.Status.ReadyReplicas == 4
	})
	w.becomesReady()
	stop()
	reads, lost := load.Wait()
	assert.Zero(t, lost, "the first one: %v", load.First())
	assert.Greater(t, reads, int64(100))
	w.reads("greeting", "Ahoy")

	// It goes, but for its data.
	require.NoError(t, w.Client.Delete(t.Context(), read(w, &v1.KVStoreScaling{}, "demo")))
	require.NoError(t, w.Client.Delete(t.Context(), w.demo()))
	w.Eventually("the pods to go", func() bool {
		return len(w.pods(store.Coordinator))+len(w.pods(store.Storage))+len(w.pods(store.Gateway)) == 0
	})
	assert.Nil(t, read(w, &corev1.PersistentVolumeClaim{}, "data-demo-storage-0").DeletionTimestamp)
}

// TestACrashWithoutAProbe upgrades to a program that runs for a second, in which its pods are ready: neither the next pod
// nor the next node type may be changed in that second.
func TestACrashWithoutAProbe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.Client.Create(t.Context(), &v1.KVStore{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "demo"},
		Spec: v1.KVStoreSpec{ClusterSpec: v1beta1.ClusterSpec{
			DeploymentOrder: []string{store.Storage, store.Gateway},
			K8sConfigGroup:  v1beta1.K8sConfigGroups{{Name: "data", Image: "idle:v1"}, {Name: "front", Image: "idle:v1"}},
			Nodes: v1beta1.Nodes{
				{Name: "storage", NodeType: store.Storage, Replicas: ptr.To[int32](2), K8sConfigGroup: "data"},
				{Name: "gateway", Kind: "Deployment", NodeType: store.Gateway, K8sConfigGroup: "front"},
			},
		}},
	}))
	w.becomesReady()
	w.change(func(demo *v1.KVStore) {
		group(demo, "data").Image, group(demo, "front").Image = "crashing:v2", "idle:v2"
	})
	w.Eventually("the upgrade to halt", func() bool { return w.demo().Status.Phase == v1beta1.ClusterHalted })
	stalled := meta.FindStatusCondition(w.demo().Status.Conditions, events.ConditionStalled)
	assert.Regexp(t, "node storage: pod demo-storage-[01]: container storage: CrashLoopBackOff, last exit code 3", stalled.Message)
	assert.Equal(t, "idle:v1", read(w, &appsv1.Deployment{}, "demo-gateway").Spec.Template.Spec.Containers[0].Image)
	// It leaves the other pod time to crash, if the machine has time for that: on a busy one both may be changed.
	assert.Equal(t, int32(5), read(w, &appsv1.StatefulSet{}, "demo-storage").Spec.MinReadySeconds)
}

func (w *world) pods(kind string) []corev1.Pod {
	w.T.Helper()
	var pods corev1.PodList
	require.NoError(w.T, w.Client.List(w.T.Context(), &pods, client.InNamespace(w.Namespace), client.MatchingLabels{"dsoi.armature.dev/node-type": kind}))
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// started returns when the first and the last of a type's pods were made.
func (w *world) started(kind string) (oldest, newest time.Time) {
	for _, p := range w.pods(kind) {
		at := p.CreationTimestamp.Time
		if oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
		if at.After(newest) {
			newest = at
		}
	}
	return oldest, newest
}
