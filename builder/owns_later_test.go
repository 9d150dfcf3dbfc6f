package builder_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/builder"
)

// What an operator is to own before it runs is declared; a real one is tried with the gang schedulers of ReplicaJobs.
func TestOwnsLaterIsForWhatRuns(t *testing.T) {
	err := builder.NewOperator[*appsv1.Deployment](nil, "web").OwnsLater(t.Context(), &batchv1.Job{})
	assert.ErrorIs(t, err, builder.ErrMisuse)
	assert.ErrorContains(t, err, "operator web")
	assert.ErrorContains(t, err, "Owns")
}

// lateAPI is a manager whose cache lists and watches a fake API server.
type lateAPI struct {
	manager.Manager
	api      client.WithWatch
	mapper   *meta.DefaultRESTMapper
	isDenied atomic.Bool   // the list of Jobs
	watching chan struct{} // closed when the first watch of Jobs has begun
}

func newLateAPI(t *testing.T, objs ...client.Object) *lateAPI {
	a := &lateAPI{
		api:    fake.NewClientBuilder().WithReturnManagedFields().WithObjects(objs...).Build(),
		mapper: meta.NewDefaultRESTMapper(nil), watching: make(chan struct{}),
	}
	for _, kind := range []string{"Deployment", "ReplicaSet"} {
		a.mapper.Add(appsv1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	a.mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	var err error
	a.Manager, err = manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{
		Metrics:        metricsserver.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return a.mapper, nil },
		NewClient:      func(*rest.Config, client.Options) (client.Client, error) { return a.api, nil },
		Cache: cache.Options{NewInformer: func(
			_ toolscache.ListerWatcher, like runtime.Object, resync time.Duration, indexers toolscache.Indexers,
		) toolscache.SharedIndexInformer {
			return toolscache.NewSharedIndexInformer(a.listerOf(t, like), like, resync, indexers)
		}},
	})
	require.NoError(t, err)
	return a
}

// listerOf returns what an informer of a kind asks.
func (a *lateAPI) listerOf(t *testing.T, like runtime.Object) toolscache.ListerWatcher {
	gvk, err := apiutil.GVKForObject(like, scheme.Scheme)
	require.NoError(t, err)
	gvk.Kind += "List"
	_, isJobs := like.(*batchv1.Job)
	var first sync.Once
	list := func() client.ObjectList {
		obj, err := scheme.Scheme.New(gvk)
		require.NoError(t, err)
		return obj.(client.ObjectList)
	}
	return listThenWatch{&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			if isJobs && a.isDenied.Load() {
				return nil, errors.New("denied")
			}
			all := list()
			return all, a.api.List(ctx, all)
		},
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			w, err := a.api.Watch(ctx, list())
			if isJobs && err == nil {
				first.Do(func() { close(a.watching) })
			}
			return w, err
		},
	}}
}

// listThenWatch asks a server that can't begin a watch with the present objects.
type listThenWatch struct{ *toolscache.ListWatch }

func (listThenWatch) IsWatchListSemanticsUnSupported() bool { return true }

// installJobs makes the API server have the kind Job.
func (a *lateAPI) installJobs() {
	a.mapper.Add(batchv1.SchemeGroupVersion.WithKind("Job"), meta.RESTScopeNamespace)
}

// await waits until a channel is closed.
func await(t *testing.T, closed <-chan struct{}, why string) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		require.Fail(t, "never: "+why)
	}
}

func TestOwnsLater(t *testing.T) {
	owner := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner-uid"}}
	job := func(name string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: "uid",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		}}
	}
	a := newLateAPI(t, owner, job("before"))
	var mu sync.Mutex
	var observed []string
	ownsJobs, passed := false, make(chan struct{})
	var first sync.Once
	o := builder.NewOperator[*appsv1.Deployment](a, t.Name()).
		Owns(&corev1.ConfigMap{}).
		Plan(func(_ *appsv1.Deployment, v builder.View) builder.Plan[*appsv1.Deployment] {
			first.Do(func() { close(passed) })
			mu.Lock()
			defer mu.Unlock()
			if !ownsJobs {
				return builder.Plan[*appsv1.Deployment]{}
			}
			observed = nil
			for _, job := range builder.Owned[*batchv1.Job](v) {
				observed = append(observed, job.Name)
			}
			return builder.Plan[*appsv1.Deployment]{}
		})
	require.NoError(t, o.Complete())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	await(t, passed, "the operator runs: until then it waits for all kinds of the cache, also for one that is denied")

	err := o.OwnsLater(ctx, &batchv1.Job{})
	assert.True(t, meta.IsNoMatchError(err), "%v", err)
	assert.ErrorContains(t, err, "operator "+t.Name()+": OwnsLater: ")

	a.isDenied.Store(true)
	a.installJobs()
	err = o.OwnsLater(ctx, &batchv1.Job{})
	assert.ErrorContains(t, err, "the cache doesn't have Job.batch yet; may the operator list and watch it?")

	a.isDenied.Store(false)
	require.Eventually(t, func() bool { return o.OwnsLater(ctx, &batchv1.Job{}) == nil }, time.Minute, time.Millisecond, "a later call continues")
	require.NoError(t, o.OwnsLater(ctx, &batchv1.Job{}), "it owns the kind already")
	mu.Lock()
	ownsJobs = true
	mu.Unlock()
	await(t, a.watching, "what is created between the list and the watch has no event in the fake API server")
	require.NoError(t, a.api.Create(ctx, job("after")))
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Equal(slices.Sorted(slices.Values(observed)), []string{"after", "before"})
	}, time.Minute, time.Millisecond, "the event of a child runs the plan, which has all children of the kind")
}
