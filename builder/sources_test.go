package builder

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

func TestEnqueueFor(t *testing.T) {
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
	w := &watchConfig{like: &corev1.ConfigMap{}}
	EnqueueFor(func(before, after *corev1.ConfigMap) Owners {
		if after == nil {
			return Owners{All: true}
		}
		return Owners{Names: []types.NamespacedName{{Namespace: "default", Name: after.Data["head"]}}}
	}).applyToWatch(w)
	all := func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{request("a"), request("b"), request("c")}
	}
	for name, c := range map[string]struct {
		happens func(q workqueue.TypedRateLimitingInterface[reconcile.Request])
		want    []reconcile.Request
	}{
		"created": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.concerns.handler(enqueueAll(all)).Create(t.Context(), event.CreateEvent{Object: at("1", "a")}, q)
		}, []reconcile.Request{request("a")}},
		"there at the start": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.concerns.handler(enqueueAll(all)).Create(t.Context(), event.CreateEvent{Object: at("1", "a"), IsInInitialList: true}, q)
		}, nil},
		"changed": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.concerns.handler(enqueueAll(all)).Update(t.Context(), event.UpdateEvent{ObjectOld: at("1", "a"), ObjectNew: at("2", "b")}, q)
		}, []reconcile.Request{request("b")}},
		"the cache's own resync": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.concerns.handler(enqueueAll(all)).Update(t.Context(), event.UpdateEvent{ObjectOld: at("1", "a"), ObjectNew: at("1", "a")}, q)
		}, nil},
		"deleted": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.concerns.handler(enqueueAll(all)).Delete(t.Context(), event.DeleteEvent{Object: at("1", "a")}, q)
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

func TestWatchesMisused(t *testing.T) {
	which := func(_, _ client.Object) Owners { return Owners{} }
	names := func(*corev1.Pod) []string { return nil }
	for name, c := range map[string]struct {
		kind    client.Object
		options []WatchOption
		want    string
	}{
		"seen by all":  {&corev1.Node{}, []WatchOption{SeenByAll(), EnqueueFor(which)}, ""},
		"referenced":   {&corev1.Secret{}, []WatchOption{EnqueueFor(which), ReferencedBy(names)}, ""},
		"no source":    {&corev1.Node{}, []WatchOption{EnqueueFor(which)}, "*v1.Node has 0 of ReferencedBy, Referencing and SeenByAll"},
		"nothing":      {&corev1.Node{}, nil, "*v1.Node has 0 of ReferencedBy"},
		"two sources":  {&corev1.Node{}, []WatchOption{SeenByAll(), ReferencedBy(names)}, "*v1.Node has 2 of ReferencedBy"},
		"a nil option": {&corev1.Node{}, []WatchOption{nil}, "an option of *v1.Node is nil"},
		"beside Referencing": {
			&corev1.Node{}, []WatchOption{Referencing(func(client.Object) []string { return nil }), EnqueueFor(which)}, "beside Referencing",
		},
		"no function": {&corev1.Node{}, []WatchOption{SeenByAll(), EnqueueFor[*corev1.Node](nil)}, "EnqueueFor needs a function"},
		"no names":    {&corev1.Node{}, []WatchOption{ReferencedBy[*corev1.Pod](nil)}, "ReferencedBy needs a function"},
		"twice":       {&corev1.Node{}, []WatchOption{SeenByAll(), EnqueueFor(which), EnqueueFor(which)}, "EnqueueFor is given twice"},
		"of another owner": {
			&corev1.Node{}, []WatchOption{ReferencedBy(func(*corev1.Secret) []string { return nil })},
			"ReferencedBy has a function of *v1.Secret; it must be of *v1.Pod",
		},
		"of another kind": {
			&corev1.Node{}, []WatchOption{Referencing(func(*corev1.Secret) []string { return nil })},
			"Referencing has a function of *v1.Secret; it must be of *v1.Node",
		},
		"events of another kind": {
			&corev1.Node{}, []WatchOption{SeenByAll(), EnqueueFor(func(_, _ *corev1.Secret) Owners { return Owners{} })},
			"EnqueueFor has a function of *v1.Secret; it must be of *v1.Node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOperator[*corev1.Pod](nil, "test").Watches(c.kind, c.options...)
			o.engine = NewEngine(fake.NewClientBuilder().WithScheme(scheme.Scheme).Build(), Options{})
			_, err := o.checkWatches(kinds.Kind{})
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, ErrMisuse)
			assert.ErrorContains(t, err, c.want)
		})
	}
}
