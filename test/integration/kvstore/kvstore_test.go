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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
	"github.com/armature-dev/armature/examples/kvstore/store"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 3 * time.Minute // an upgrade replaces seven processes, one after the other
	pollEvery = 100 * time.Millisecond
)

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
	*testing.T
	client    client.Client
	namespace string
	store     *store.Client
}

func newWorld(t *testing.T) *world {
	testcluster.InstallCRDs(t, "examples/kvstore/config")
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme))
	c, err := client.New(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	w := &world{T: t, client: c, namespace: testcluster.Namespace(t)}
	w.store = store.NewClient(c, w.namespace, "demo")

	self, err := os.Executable()
	require.NoError(t, err)
	programs := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(programs, "kvstore")))
	for name, script := range map[string]string{"idle": "exec sleep 1000", "crashing": "sleep 1; exit 3"} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755)) //nolint:gosec // it is run
	}
	seen := operator.Cache()
	seen.DefaultNamespaces = map[string]cache.Config{w.namespace: {}} // tests run side by side
	mgr, err := ctrl.NewManager(testcluster.Config(t), ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, Cache: seen,
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	require.NoError(t, err)
	require.NoError(t, operator.Setup(mgr, programs))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return w
}

// apply creates the objects of a manifest of the example.
func (w *world) apply(file string, replace ...string) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join("../../../examples/kvstore", file))
	require.NoError(w, err)
	for _, document := range strings.Split(strings.NewReplacer(replace...).Replace(string(text)), "\n---\n") {
		obj := &unstructured.Unstructured{}
		require.NoError(w, yaml.Unmarshal([]byte(document), &obj.Object))
		obj.SetNamespace(w.namespace)
		require.NoError(w, w.client.Create(w.Context(), obj))
	}
}

// volumes makes volumes of a class that only this test has.
func (w *world) volumes(n int) (class string) {
	dir := w.TempDir()
	for i := range n {
		pv := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(w.namespace, "-", i)},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, StorageClassName: w.namespace,
				AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: filepath.Join(dir, fmt.Sprint(i))}},
			},
		}
		require.NoError(w, w.client.Create(w.Context(), pv))
		w.Cleanup(func() { _ = w.client.Delete(context.Background(), pv) })
	}
	return w.namespace
}

func (w *world) eventually(what string, done func() bool) {
	w.Helper()
	require.Eventually(w, done, patience, pollEvery, what)
}

func read[T client.Object](w *world, obj T, name string) T {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, obj))
	return obj
}

func (w *world) demo() *v1.KVStore { w.Helper(); return read(w, &v1.KVStore{}, "demo") }

func (w *world) change(change func(*v1.KVStore)) {
	w.Helper()
	w.eventually("the change", func() bool {
		demo := w.demo()
		change(demo)
		err := w.client.Update(w.Context(), demo)
		if !apierrors.IsConflict(err) {
			require.NoError(w, err)
		}
		return err == nil
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
	w.Helper()
	w.eventually("the store to be ready", func() bool {
		demo := w.demo()
		c := meta.FindStatusCondition(demo.Status.Conditions, builder.ConditionReady)
		return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == demo.Generation &&
			demo.Status.ObservedGeneration == demo.Generation && demo.Status.Phase == v1beta1.ClusterRunning
	})
}

func (w *world) reads(key, want string) {
	w.Helper()
	data, found, err := w.store.Get(w.Context(), key)
	require.NoError(w, err)
	require.True(w, found, "%s is lost", key)
	require.Equal(w, want, data)
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
	w.eventually("the upgrade to begin", func() bool { return w.demo().Status.Upgrade != nil })
	w.becomesReady()
	var started []time.Time
	for _, kind := range store.Types {
		mottos, err := w.store.Config(t.Context(), kind, "motto")
		require.NoError(t, err)
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
	w.eventually("the upgrade to halt", func() bool { return w.demo().Status.Phase == v1beta1.ClusterHalted })
	stalled := meta.FindStatusCondition(w.demo().Status.Conditions, builder.ConditionStalled)
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
	w.eventually("the store to be scaled", func() bool {
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
	require.NoError(t, w.client.Delete(t.Context(), read(w, &v1.KVStoreScaling{}, "demo")))
	require.NoError(t, w.client.Delete(t.Context(), w.demo()))
	w.eventually("the pods to go", func() bool {
		return len(w.pods(store.Coordinator))+len(w.pods(store.Storage))+len(w.pods(store.Gateway)) == 0
	})
	assert.Nil(t, read(w, &corev1.PersistentVolumeClaim{}, "data-demo-storage-0").DeletionTimestamp)
}

// TestACrashWithoutAProbe upgrades to a program that runs for a second, in which its pods are ready: neither the next pod
// nor the next node type may be changed in that second.
func TestACrashWithoutAProbe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.client.Create(t.Context(), &v1.KVStore{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "demo"},
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
	w.eventually("the upgrade to halt", func() bool { return w.demo().Status.Phase == v1beta1.ClusterHalted })
	stalled := meta.FindStatusCondition(w.demo().Status.Conditions, builder.ConditionStalled)
	assert.Contains(t, stalled.Message, "node storage: pod demo-storage-1: container storage: CrashLoopBackOff, last exit code 3")
	assert.Equal(t, "idle:v1", read(w, &appsv1.Deployment{}, "demo-gateway").Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, "idle:v1", read(w, &corev1.Pod{}, "demo-storage-0").Spec.Containers[0].Image)
}

func (w *world) pods(kind string) []corev1.Pod {
	w.Helper()
	var pods corev1.PodList
	require.NoError(w, w.client.List(w.Context(), &pods, client.InNamespace(w.namespace), client.MatchingLabels{"dsoi.armature.dev/node-type": kind}))
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
