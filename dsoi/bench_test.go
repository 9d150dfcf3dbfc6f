package dsoi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// shelf serves objects as an informer's cache does: by reference. It counts what would be requests.
type shelf struct {
	client.Client
	scheme   *runtime.Scheme
	objects  map[schema.GroupVersionKind]toolscache.Indexer
	requests int
	mu       sync.Mutex
}

// shelfInformer lets the operator read as from a manager's cache.
type shelfInformer struct {
	cache.Informer
	toolscache.Indexer
}

func (i shelfInformer) GetIndexer() toolscache.Indexer { return i.Indexer }
func (i shelfInformer) HasSynced() bool                { return true }
func (i shelfInformer) AddIndexers(indexers toolscache.Indexers) error {
	return i.Indexer.AddIndexers(indexers)
}

// shelfCache is a shelf as a cache.
type shelfCache struct {
	*shelf
	cache.Informers
}

func (c shelfCache) GetInformer(_ context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return shelfInformer{Indexer: c.of(c.kindOf(obj))}, nil
}

func (c shelfCache) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return errors.ErrUnsupported
}

func newShelf() *shelf {
	return &shelf{
		scheme: townScheme(), objects: map[schema.GroupVersionKind]toolscache.Indexer{},
	}
}

func (s *shelf) Scheme() *runtime.Scheme                         { return s.scheme }
func (s *shelf) IsObjectNamespaced(runtime.Object) (bool, error) { return true, nil }

func (s *shelf) kindOf(obj runtime.Object) schema.GroupVersionKind {
	gvk, err := apiutil.GVKForObject(obj, s.scheme)
	if err != nil {
		panic(err)
	}
	return gvk
}

// of holds the objects of a kind by name: all are in one namespace.
func (s *shelf) of(gvk schema.GroupVersionKind) toolscache.Indexer {
	if s.objects[gvk] == nil {
		byName := func(obj any) (string, error) { return obj.(client.Object).GetName(), nil }
		s.objects[gvk] = toolscache.NewIndexer(byName, toolscache.Indexers{})
	}
	return s.objects[gvk]
}

func (s *shelf) put(obj client.Object) {
	if err := s.of(s.kindOf(obj)).Add(obj); err != nil {
		panic(err)
	}
}

func (s *shelf) get(gvk schema.GroupVersionKind, name string) runtime.Object {
	obj, ok, err := s.of(gvk).GetByKey(name)
	if !ok || err != nil {
		return nil
	}
	return obj.(runtime.Object)
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	obj := s.get(s.kindOf(into), key.Name)
	if obj == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(obj).Elem())
	return nil
}

func (s *shelf) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	gvk := s.kindOf(into)
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	var list []runtime.Object
	for _, obj := range s.of(gvk).List() {
		list = append(list, obj.(runtime.Object))
	}
	return meta.SetList(into, list)
}

func (s *shelf) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	obj.SetUID(types.UID(fmt.Sprintf("%T %s", obj, obj.GetName())))
	obj.SetResourceVersion(strconv.Itoa(s.requests))
	obj.SetGeneration(1)
	s.put(obj.DeepCopyObject().(client.Object))
	return nil
}

func (s *shelf) Patch(_ context.Context, obj client.Object, _ client.Patch, _ ...client.PatchOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return nil
}

func (s *shelf) Status() client.SubResourceWriter { return shelfStatus{s: s} }

// shelfStatus takes the status that it gets.
type shelfStatus struct {
	client.SubResourceWriter
	s *shelf
}

func (w shelfStatus) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	w.s.requests++
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	o := w.s.get(w.s.kindOf(obj), obj.GetName()).DeepCopyObject().(*Town)
	version := o.ResourceVersion
	if err := json.Unmarshal(data, o); err != nil {
		return err
	}
	o.ResourceVersion = version
	w.s.put(o)
	return nil
}

// manyNodes is a town of so many nodes in ten types.
func manyNodes(n int) *Town {
	o := &Town{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t", UID: "town-uid", Generation: 1, ResourceVersion: "1"}}
	for i := range 10 {
		name := fmt.Sprint("type-", i)
		o.Spec.DeploymentOrder = append(o.Spec.DeploymentOrder, name)
		o.Spec.K8sConfigGroup = append(o.Spec.K8sConfigGroup, v1beta1.K8sConfigGroup{
			Name: name, Image: "town:v1", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
			Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
		})
	}
	o.Spec.AppConfigGroup = v1beta1.AppConfigGroups{{Name: "common", RuntimeProperties: "a=1\nb=2\n"}}
	for i := range n {
		name := fmt.Sprint("type-", i%10)
		o.Spec.Nodes = append(o.Spec.Nodes, v1beta1.Node{
			Name: fmt.Sprint("node-", i), NodeType: name, K8sConfigGroup: name, AppConfigGroup: v1beta1.Names{"common"}, Replicas: ptr.To[int32](2),
		})
	}
	return o
}

// BenchmarkUnchanged200Nodes is a pass over a running cluster of 200 nodes in 10 types, with two pods each: 600 objects and 400
// pods, of which nothing has changed.
func BenchmarkUnchanged200Nodes(b *testing.B) {
	s := newShelf()
	s.put(manyNodes(200))
	r, err := buildertest.NewReconciler(theApp().Operator(nil), shelfCache{shelf: s}, time.Now)
	require.NoError(b, err)
	pass := func() {
		_, err := r.Reconcile(b.Context(), townRequest)
		require.NoError(b, err)
	}
	pass()
	for _, obj := range s.of(appsv1.SchemeGroupVersion.WithKind("StatefulSet")).List() {
		set := readySet(obj.(*appsv1.StatefulSet))
		for i := range 2 {
			s.put(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "default", Name: fmt.Sprint(set.Name, "-", i), Labels: set.Spec.Template.Labels, Annotations: set.Spec.Template.Annotations,
					OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: set.Name, UID: set.UID, Controller: new(true)}},
				},
				Status: corev1.PodStatus{
					Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
					ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: runningFor(time.Hour)}},
				},
			})
		}
	}
	pass()
	pass()
	s.requests = 0
	pass()
	require.Zero(b, s.requests, "nothing has changed")
	b.ReportAllocs()
	for b.Loop() {
		pass()
	}
	require.Zero(b, s.requests)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/pass")
}
