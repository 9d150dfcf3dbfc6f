package sources

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

func TestEventsOfObjectsObservedByAll(t *testing.T) {
	node := func(version, label string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: version, Labels: map[string]string{"l": label}}}
	}
	update := event.UpdateEvent{ObjectOld: node("1", "a"), ObjectNew: node("2", "a")}
	relabelled := event.UpdateEvent{ObjectOld: node("1", "a"), ObjectNew: node("2", "b")}
	resync := event.UpdateEvent{ObjectOld: node("1", "a"), ObjectNew: node("1", "a")}

	fails := false
	deployment := func(name string) *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	c := fake.NewClientBuilder().WithObjects(deployment("a"), deployment("b")).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if fails {
				return errors.New("no")
			}
			return c.List(ctx, list, opts...)
		},
	}).Build()
	owner := kinds.Kind{GVK: appsv1.SchemeGroupVersion.WithKind("Deployment")}
	all := []reconcile.Request{
		{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}},
		{NamespacedName: types.NamespacedName{Namespace: "default", Name: "b"}},
	}
	enqueued := func(which Concerns, happens func(h handler.EventHandler, q queue)) (got []reconcile.Request) {
		t.Helper()
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		happens(ObservedByAll(Watch{Reader: readerOf(c), Owner: owner, Concerns: which}).Handler(), q)
		for q.Len() > 0 {
			r, _ := q.Get()
			got = append(got, r)
			q.Done(r)
		}
		return got
	}
	updated := func(e event.UpdateEvent) func(handler.EventHandler, queue) {
		return func(h handler.EventHandler, q queue) { h.Update(t.Context(), e, q) }
	}
	created := func(e event.CreateEvent) func(handler.EventHandler, queue) {
		return func(h handler.EventHandler, q queue) { h.Create(t.Context(), e, q) }
	}
	deleted := func(h handler.EventHandler, q queue) {
		h.Delete(t.Context(), event.DeleteEvent{Object: node("1", "a")}, q)
	}
	assert.Equal(t, all, enqueued(nil, updated(update)))
	assert.Empty(t, enqueued(nil, updated(resync)))
	byLabel := func(before, after client.Object) (bool, []types.NamespacedName) {
		return before == nil || after == nil || before.GetLabels()["l"] != after.GetLabels()["l"], nil
	}
	assert.Empty(t, enqueued(byLabel, updated(update)), "a heartbeat")
	assert.Equal(t, all, enqueued(byLabel, updated(relabelled)))
	assert.Equal(t, all, enqueued(byLabel, created(event.CreateEvent{Object: node("1", "a")})))
	assert.Empty(t, enqueued(byLabel, created(event.CreateEvent{Object: node("1", "a"), IsInInitialList: true})))
	assert.Equal(t, all, enqueued(byLabel, deleted))
	fails = true
	assert.Empty(t, enqueued(nil, deleted))
}

func TestOwnerOfAGrandchild(t *testing.T) {
	controlledBy := func(meta *metav1.ObjectMeta, apiVersion, kind, name string, uid types.UID) {
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}}
	}
	job := func(name, apiVersion, kind string) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name + "-uid")}}
		controlledBy(&j.ObjectMeta, apiVersion, kind, "web", "web-uid")
		return j
	}
	alone := job("alone", "", "")
	alone.OwnerReferences = nil
	objs := []client.Object{
		job("ours", "apps/v1", "Deployment"), job("other-group", "example.com/v1", "Deployment"), job("set", "apps/v1", "StatefulSet"), alone,
	}
	c := fake.NewClientBuilder().WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)).WithObjects(objs...).Build()
	pods := &dependents{
		Watch: Watch{
			Reader: readerOf(c),
			Owner:  kinds.Kind{GVK: appsv1.SchemeGroupVersion.WithKind("Deployment")},
			Kind:   kinds.Kind{GVK: corev1.SchemeGroupVersion.WithKind("Pod")},
		},
		parent: kinds.Kind{GVK: batchv1.SchemeGroupVersion.WithKind("Job")},
	}
	for name, c := range map[string]struct {
		apiVersion, kind, parent string
		uid                      types.UID
		found                    bool
	}{
		"ours":                   {"batch/v1", "Job", "ours", "ours-uid", true},
		"an older version":       {"batch/v1beta1", "Job", "ours", "ours-uid", true},
		"another of that name":   {"batch/v1", "Job", "ours", "old-uid", false},
		"gone":                   {"batch/v1", "Job", "gone", "gone-uid", false},
		"another kind":           {"apps/v1", "ReplicaSet", "ours", "ours-uid", false},
		"another group":          {"example.com/v1", "Job", "ours", "ours-uid", false},
		"of no one's":            {"batch/v1", "Job", "alone", "alone-uid", false},
		"of another kind's":      {"batch/v1", "Job", "set", "set-uid", false},
		"of another group's":     {"batch/v1", "Job", "other-group", "other-group-uid", false},
		"without any controller": {},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
			if c.kind != "" {
				controlledBy(&pod.ObjectMeta, c.apiVersion, c.kind, c.parent, c.uid)
			}
			requests, err := pods.owners(t.Context(), pod)
			require.NoError(t, err)
			if !c.found {
				assert.Empty(t, requests)
				return
			}
			require.Len(t, requests, 1)
			assert.Equal(t, types.NamespacedName{Namespace: "default", Name: "web"}, requests[0].NamespacedName)
		})
	}
}

func readerOf(c client.Client) Reader { return Reader{From: c, Kinds: kinds.New(c, time.Now)} }

func TestConcerns(t *testing.T) {
	at := func(version, head string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "line", ResourceVersion: version},
			Data:       map[string]string{"head": head},
		}
	}
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}
	}
	// The first in the queue is enqueued when it gets there, and all are when the queue is deleted.
	concerns := Concerns(func(_, after client.Object) (bool, []types.NamespacedName) {
		if after == nil {
			return true, nil
		}
		return false, []types.NamespacedName{{Namespace: "default", Name: after.(*corev1.ConfigMap).Data["head"]}}
	})
	all := func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{request("a"), request("b"), request("c")}
	}
	for name, c := range map[string]struct {
		happens func(q workqueue.TypedRateLimitingInterface[reconcile.Request])
		want    []reconcile.Request
	}{
		"created": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			concerns.handler(enqueueAll(all)).Create(t.Context(), event.CreateEvent{Object: at("1", "a")}, q)
		}, []reconcile.Request{request("a")}},
		"there at the start": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			concerns.handler(enqueueAll(all)).Create(t.Context(), event.CreateEvent{Object: at("1", "a"), IsInInitialList: true}, q)
		}, nil},
		"changed": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			concerns.handler(enqueueAll(all)).Update(t.Context(), event.UpdateEvent{ObjectOld: at("1", "a"), ObjectNew: at("2", "b")}, q)
		}, []reconcile.Request{request("b")}},
		"the cache's own resync": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			concerns.handler(enqueueAll(all)).Update(t.Context(), event.UpdateEvent{ObjectOld: at("1", "a"), ObjectNew: at("1", "a")}, q)
		}, nil},
		"deleted": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			concerns.handler(enqueueAll(all)).Delete(t.Context(), event.DeleteEvent{Object: at("1", "a")}, q)
		}, []reconcile.Request{request("a"), request("b"), request("c")}},
	} {
		t.Run(name, func(t *testing.T) {
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			c.happens(q)
			var got []reconcile.Request
			for q.Len() > 0 {
				r, _ := q.Get()
				got = append(got, r)
				q.Done(r)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
