package builder

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestWhomAChangeWakes(t *testing.T) {
	at := func(version, head string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "line", ResourceVersion: version},
			Data:       map[string]string{"head": head},
		}
	}
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}
	}
	// The first in line is woken when it gets there, and all are when the line goes.
	w := wake{like: &corev1.ConfigMap{}, which: func(before, after client.Object) Owners {
		if after == nil {
			return Owners{All: true}
		}
		return Owners{Names: []types.NamespacedName{{Namespace: "default", Name: after.(*corev1.ConfigMap).Data["head"]}}}
	}}
	all := func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{request("a"), request("b"), request("c")}
	}
	for name, c := range map[string]struct {
		happens func(q workqueue.TypedRateLimitingInterface[reconcile.Request])
		want    []reconcile.Request
	}{
		"created": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.handler(all).Create(t.Context(), event.CreateEvent{Object: at("1", "a")}, q)
		}, []reconcile.Request{request("a")}},
		"there at the start": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.handler(all).Create(t.Context(), event.CreateEvent{Object: at("1", "a"), IsInInitialList: true}, q)
		}, nil},
		"changed": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.handler(all).Update(t.Context(), event.UpdateEvent{ObjectOld: at("1", "a"), ObjectNew: at("2", "b")}, q)
		}, []reconcile.Request{request("b")}},
		"the cache's own resync": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.handler(all).Update(t.Context(), event.UpdateEvent{ObjectOld: at("1", "a"), ObjectNew: at("1", "a")}, q)
		}, nil},
		"deleted": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			w.handler(all).Delete(t.Context(), event.DeleteEvent{Object: at("1", "a")}, q)
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

func TestWakesMisused(t *testing.T) {
	which := func(_, _ client.Object) Owners { return Owners{} }
	names := func(*corev1.Pod) []string { return nil }
	for name, c := range map[string]struct {
		describe func(*Operator[*corev1.Pod]) *Operator[*corev1.Pod]
		want     string
	}{
		"of what is read": {func(o *Operator[*corev1.Pod]) *Operator[*corev1.Pod] {
			return o.Reads(&corev1.Node{}, nil).Wakes(&corev1.Node{}, which)
		}, ""},
		"of what is referred to": {func(o *Operator[*corev1.Pod]) *Operator[*corev1.Pod] {
			return o.Refers(&corev1.Secret{}, names).Wakes(&corev1.Secret{}, which)
		}, ""},
		"of neither": {func(o *Operator[*corev1.Pod]) *Operator[*corev1.Pod] {
			return o.Wakes(&corev1.Node{}, which)
		}, "Wakes: *v1.Node must be among what the operator Reads or Refers to"},
		"beside a function of Reads": {func(o *Operator[*corev1.Pod]) *Operator[*corev1.Pod] {
			return o.Reads(&corev1.Node{}, func(_, _ client.Object) bool { return true }).Wakes(&corev1.Node{}, which)
		}, "Wakes: *v1.Node has a function in Reads, too"},
		"without a function": {func(o *Operator[*corev1.Pod]) *Operator[*corev1.Pod] {
			return o.Reads(&corev1.Node{}, nil).Wakes(&corev1.Node{}, nil)
		}, "Wakes: *v1.Node needs a function"},
		"twice": {func(o *Operator[*corev1.Pod]) *Operator[*corev1.Pod] {
			return o.Reads(&corev1.Node{}, nil).Wakes(&corev1.Node{}, which).Wakes(&corev1.Node{}, which)
		}, "Wakes: *v1.Node is given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOperator[*corev1.Pod](nil, "test")
			err := c.describe(o).checkWakes()
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorIs(t, err, ErrMisuse)
			assert.ErrorContains(t, err, c.want)
		})
	}
}
