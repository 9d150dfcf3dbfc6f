package dsoi

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/dsoi"
	"github.com/armature-dev/armature/events"
	kv "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
	parseable "github.com/armature-dev/armature/examples/parseable/api/v1beta1"
	pinot "github.com/armature-dev/armature/examples/pinot/api/v1beta1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 120 * time.Second
	pollEvery = 100 * time.Millisecond
)

// world is a namespace, and an operator that runs.
type world struct {
	*testing.T
	client    client.Client
	namespace string
	requests  *counter // of the operator, but for watches
}

// counter counts what an operator asks of the API server, but for its cache's watches (and the lists that begin them), and
// for events, which are sent later.
type counter struct {
	total atomic.Int64

	mu   sync.Mutex
	used map[string]bool // all verbs, as a role has them
}

// verbs returns all verbs that were used, as a role has them.
func (c *counter) verbs() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.used)
}

// counted is a transport whose requests are counted.
type counted struct {
	*counter
	next http.RoundTripper
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	for _, p := range rbac.OfRequest(r) {
		c.used[p.String()] = true
	}
	c.mu.Unlock()
	isCache := r.Method == http.MethodGet && (r.URL.Query().Has("watch") || r.URL.Query().Has("limit") || r.URL.Query().Has("resourceVersion"))
	if !isCache && !strings.HasSuffix(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "/events/") {
		c.total.Add(1)
	}
	return c.next.RoundTrip(r)
}

// newWorld starts an operator, unless it is nil, that sees a namespace of the test's own: tests run side by side.
func newWorld(t *testing.T, setup func(manager.Manager) error) *world {
	for _, name := range []string{"kvstore", "pinot", "parseable"} {
		testcluster.InstallCRDs(t, "examples/"+name+"/config")
	}
	c := testcluster.Client(t, kv.AddToScheme, pinot.AddToScheme, parseable.AddToScheme)
	w := &world{T: t, client: client.WithFieldValidation(c, metav1.FieldValidationStrict), namespace: testcluster.Namespace(t)}
	w.requests = &counter{used: map[string]bool{}}
	w.run(w.provision)
	if setup != nil {
		w.start(setup, func(*rest.Config) {})
	}
	return w
}

// start starts an operator.
func (w *world) start(setup func(manager.Manager) error, change func(*rest.Config)) {
	cfg := rest.CopyConfig(testcluster.Config(w.T))
	change(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{w.requests, next} })
	seen := operator.Cache()
	seen.DefaultNamespaces = map[string]cache.Config{w.namespace: {}}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: w.client.Scheme(), Metrics: server.Options{BindAddress: "0"}, Cache: seen,
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(w, err)
	require.NoError(w, setup(mgr))
	w.run(mgr.Start)
}

// run runs something until the test ends.
func (w *world) run(what func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- what(ctx) }()
	w.Cleanup(func() {
		cancel()
		require.NoError(w, <-ended)
	})
}

// provision gives each claim a volume, as a provisioner does. Nothing is behind it: the nodes are simulated.
func (w *world) provision(ctx context.Context) error {
	for ctx.Err() == nil {
		var claims corev1.PersistentVolumeClaimList
		if err := w.client.List(ctx, &claims, client.InNamespace(w.namespace)); err == nil {
			for i := range claims.Items {
				c := &claims.Items[i]
				if c.Spec.VolumeName != "" || c.DeletionTimestamp != nil {
					continue
				}
				_ = w.client.Create(ctx, &corev1.PersistentVolume{
					ObjectMeta: metav1.ObjectMeta{Name: "pv-" + string(c.UID)},
					Spec: corev1.PersistentVolumeSpec{
						Capacity: c.Spec.Resources.Requests, AccessModes: c.Spec.AccessModes, StorageClassName: ptr.Deref(c.Spec.StorageClassName, ""),
						ClaimRef:                      &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID},
						PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
						PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp/none"}},
					},
				})
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// class makes a storage class of a name that only this test has, and returns it.
func (w *world) class(grows bool) string {
	c := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace}, Provisioner: "example.com/none", AllowVolumeExpansion: &grows,
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingImmediate),
	}
	require.NoError(w, w.client.Create(w.Context(), c))
	w.Cleanup(func() { _ = w.client.Delete(context.Background(), c) })
	return c.Name
}

func (w *world) eventually(what string, done func() bool) {
	w.Helper()
	harness.Eventually(w.T, patience, what, done)
}

// create creates an object of a spec in YAML.
func (w *world) create(obj client.Object, name, text string) {
	w.Helper()
	require.NoError(w, yaml.UnmarshalStrict([]byte(text), obj))
	obj.SetNamespace(w.namespace)
	if name != "" {
		obj.SetName(name)
	}
	require.NoError(w, w.client.Create(w.Context(), obj))
}

func read[T client.Object](w *world, obj T, name string) T {
	w.Helper()
	require.NoError(w, w.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, obj))
	return obj
}

func (w *world) exists(obj client.Object, name string) bool {
	w.Helper()
	err := w.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, obj)
	if !apierrors.IsNotFound(err) {
		require.NoError(w, err)
	}
	return err == nil && obj.GetDeletionTimestamp() == nil
}

// change changes an object.
func change[T client.Object](w *world, obj T, name string, change func(T)) {
	w.Helper()
	w.eventually("the change of "+name, func() bool {
		change(read(w, obj, name))
		err := w.client.Update(w.Context(), obj)
		if !apierrors.IsConflict(err) {
			require.NoError(w, err)
		}
		return err == nil
	})
}

// told returns what events of a reason say of stores.
func (w *world) told(reason string) []string { return w.toldOf("KVStore", reason) }

// toldOf returns what events of a reason say of a kind.
func (w *world) toldOf(kind, reason string) (notes []string) {
	w.Helper()
	var events corev1.EventList
	require.NoError(w, w.client.List(w.Context(), &events, client.InNamespace(w.namespace)))
	for _, e := range events.Items {
		if e.InvolvedObject.Kind == kind && e.Reason == reason {
			notes = append(notes, e.Message)
		}
	}
	return notes
}

// is reports whether a condition of a cluster has a status, for its newest spec.
func is(cluster builder.Conditioned, kind string, status metav1.ConditionStatus) bool {
	c := meta.FindStatusCondition(*cluster.Conditions(), kind)
	return c != nil && c.Status == status && c.ObservedGeneration == cluster.GetGeneration()
}

// becomesReady waits until a cluster is ready.
func becomesReady[C dsoi.Cluster](w *world, cluster C, name string) C {
	w.Helper()
	w.eventually(name+" to be ready", func() bool {
		read(w, cluster, name)
		return is(cluster, events.ConditionReady, metav1.ConditionTrue) && cluster.ClusterStatus().ObservedGeneration == cluster.GetGeneration()
	})
	return cluster
}
