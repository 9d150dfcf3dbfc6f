package builder

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cacheClient serves Deployments as an informer's cache does: by reference, by an index on their controller. It
// writes into the cache, so that what it holds is what was created.
type cacheClient struct {
	client.Client
	byName  map[string]*appsv1.Deployment
	byOwner map[string][]runtime.Object
	mu      sync.Mutex
	writes  int
}

func (c *cacheClient) Scheme() *runtime.Scheme                         { return scheme.Scheme }
func (c *cacheClient) IsObjectNamespaced(runtime.Object) (bool, error) { return true, nil }
func (c *cacheClient) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

func (c *cacheClient) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	d, ok := c.byName[key.Name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	*into.(*appsv1.Deployment) = *d
	return nil
}

func (c *cacheClient) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	return meta.SetList(into, c.byOwner[options.FieldSelector.Requirements()[0].Value])
}

func (c *cacheClient) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	d := obj.DeepCopyObject().(*appsv1.Deployment)
	d.UID, d.ResourceVersion = types.UID("uid-"+d.Name), strconv.Itoa(c.writes)
	obj.SetUID(d.UID)
	obj.SetResourceVersion(d.ResourceVersion)
	c.byName[d.Name] = d
	owner := string(d.OwnerReferences[0].UID)
	c.byOwner[owner] = append(c.byOwner[owner], d)
	return nil
}

// becomeReady sets the status of all objects.
func (c *cacheClient) becomeReady() {
	for _, d := range c.byName {
		makeReady(d)
	}
}

// BenchmarkUnchanged is a pass over 1000 Deployments that are as wanted, over a cache.
//
//	warm   the objects were seen before, at the same resource version
//	walk   their resource version is new (a status was written): digest and subset walk
//	render warm, and the time to make the 1000 wanted objects, as an operator's plan does
func BenchmarkUnchanged(b *testing.B) {
	const n = 1000
	wanted := make([]*appsv1.Deployment, n)
	for i := range wanted {
		wanted[i] = benchDeployment(i)
	}
	b.Run("warm", func(b *testing.B) { benchUnchanged(b, wanted, func(*cacheClient) {}, false) })
	b.Run("render", func(b *testing.B) { benchUnchanged(b, wanted, func(*cacheClient) {}, true) })
	version := n
	b.Run("walk", func(b *testing.B) {
		benchUnchanged(b, wanted, func(c *cacheClient) {
			version++
			for _, d := range c.byName {
				d.ResourceVersion = strconv.Itoa(version)
			}
		}, false)
	})
}

func benchUnchanged(b *testing.B, wanted []*appsv1.Deployment, before func(*cacheClient), render bool) {
	c := &cacheClient{byName: map[string]*appsv1.Deployment{}, byOwner: map[string][]runtime.Object{}}
	e := NewEngine(c, Options{})
	require.NoError(b, e.Index(b.Context(), c, &appsv1.Deployment{}))
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner"}}
	pass := func() Result {
		build := e.For(owner).Prune(&appsv1.Deployment{})
		for i, d := range wanted {
			if render {
				d = benchDeployment(i)
			}
			build.Deployment(d)
		}
		res, err := build.Reconcile(b.Context())
		require.NoError(b, err)
		return res
	}
	require.Len(b, pass().Changes, len(wanted))
	c.becomeReady()
	require.Equal(b, len(wanted), pass().Unchanged)
	c.writes = 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		before(c)
		b.StartTimer()
		pass()
	}
	require.Zero(b, c.writes)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(wanted)), "ns/child")
}

// benchDeployment is a Deployment as people write them: a container with ports, probes, resources, env and a volume.
func benchDeployment(i int) *appsv1.Deployment {
	d := deployment(fmt.Sprintf("web-%d", i))
	d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "N", Value: strconv.Itoa(i)})
	return d
}
