package throttle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

func newQueueFor(t testing.TB) *Queue {
	q := NewQueue("", NewBackoff()).(*Queue)
	t.Cleanup(q.ShutDown)
	return q
}

// taken takes what is ready, in its order.
func taken(q *Queue) []string {
	var all []string
	for q.Len() > 0 {
		r, _ := q.Get()
		all = append(all, r.String())
		q.Done(r)
	}
	return all
}

func TestNamespacesTakeTurns(t *testing.T) {
	q := newQueueFor(t)
	for i := range 4 {
		q.Add(request("busy", fmt.Sprint(i)))
	}
	q.Add(request("calm", "a"))
	q.Add(request("", "cluster-wide"))
	q.Add(request("calm", "b"))
	q.Add(request("busy", "0")) // it is there
	assert.Equal(t, []string{"busy/0", "calm/a", "/cluster-wide", "busy/1", "calm/b", "busy/2", "busy/3"}, taken(q))
}

func TestWhatIsLessUrgentComesLast(t *testing.T) {
	q := newQueueFor(t)
	low := priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}
	for i := range 3 {
		q.AddWithOpts(low, request("a", fmt.Sprint(i)), request("b", fmt.Sprint(i)))
	}
	q.Add(request("b", "new"))
	q.Add(request("a", "2"))              // something has happened to it
	q.AddWithOpts(low, request("a", "2")) // which holds
	r, priority, _ := q.GetWithPriority()
	assert.Equal(t, "b/new", r.String())
	assert.Zero(t, priority)
	q.AddWithOpts(low, r) // while it is looked at
	q.Done(r)
	r, priority, _ = q.GetWithPriority()
	assert.Equal(t, "a/2", r.String())
	assert.Zero(t, priority)
	q.Done(r)
	r, priority, _ = q.GetWithPriority()
	assert.Equal(t, "a/0", r.String())
	assert.Equal(t, handler.LowPriority, priority)
	q.Done(r)
	assert.Equal(t, []string{"b/0", "a/1", "b/1", "b/2", "b/new"}, taken(q))
	assert.Empty(t, q.turns.asked)
	assert.Empty(t, q.turns.popped)
	assert.Empty(t, q.turns.soon.of)
	assert.Empty(t, q.turns.late.of)
}

// New requests of one namespace, however many, don't keep the less urgent ones of another from their passes.
func TestWhatIsLessUrgentComesAtLast(t *testing.T) {
	q := newQueueFor(t)
	q.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, request("quiet", "0"), request("quiet", "1"))
	var at []int
	for i := range 30 {
		q.Add(request("busy", fmt.Sprint(i)))
		q.Add(request("busy", fmt.Sprint("more", i)))
		r, _ := q.Get()
		if r.Namespace == "quiet" {
			at = append(at, i)
		}
		q.Done(r)
	}
	assert.Equal(t, []int{7, 15}, at)
}

// What follows an owner's first pass is as urgent as all else, whatever the first one was.
func TestLaterPassesAreAsUrgent(t *testing.T) {
	failed := errors.New("failed")
	r := AfterFirst(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{RequeueAfter: time.Hour}, failed
	}))
	res, err := r.Reconcile(t.Context(), request("a", "b"))
	assert.Equal(t, reconcile.Result{RequeueAfter: time.Hour, Priority: new(0)}, res)
	assert.Equal(t, failed, err)
}

func TestFairQueueWaits(t *testing.T) {
	q := newQueueFor(t)
	q.AddAfter(request("a", "later"), time.Millisecond)
	q.AddRateLimited(request("a", "failed"))
	assert.Equal(t, 1, q.NumRequeues(request("a", "failed")))
	var names []string
	for range 2 { // each Get waits for the next
		r, _ := q.Get()
		names = append(names, r.Name)
		q.Done(r)
	}
	assert.ElementsMatch(t, []string{"later", "failed"}, names)
	q.ShutDown()
	_, _, shutdown := q.GetWithPriority()
	assert.True(t, shutdown)
}

// Whatever is added, by whom and when: each request is taken, once for as often as it was added in between, never by two at once,
// and nothing is left behind.
func TestFairQueueLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := newQueueFor(t)
		added := map[reconcile.Request]bool{}
		held := map[reconcile.Request]bool{}
		names := rapid.SampledFrom([]string{"1", "2", "3"})
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "add") || q.Len() == 0 {
				r := request(names.Draw(rt, "namespace"), names.Draw(rt, "name"))
				q.AddWithOpts(priorityqueue.AddOpts{Priority: new(rapid.SampledFrom([]int{0, handler.LowPriority, 7}).Draw(rt, "priority"))}, r)
				added[r] = true
				continue
			}
			r, _, _ := q.GetWithPriority()
			if !added[r] || held[r] {
				rt.Fatalf("%s was taken, added %v, held %v", r, added[r], held[r])
			}
			delete(added, r)
			held[r] = true
			if rapid.Bool().Draw(rt, "done") {
				q.Done(r)
				delete(held, r)
			}
		}
		for r := range held {
			q.Done(r)
		}
		for q.Len() > 0 {
			r, _, _ := q.GetWithPriority()
			delete(added, r)
			q.Done(r)
		}
		if len(added)+len(q.turns.queued)+len(q.turns.asked)+len(q.turns.popped)+len(q.turns.soon.of)+len(q.turns.late.of) > 0 {
			rt.Fatalf("left behind: %v, %+v", added, q.turns)
		}
		q.ShutDown()
	})
}

func TestFairQueueWithWorkers(t *testing.T) {
	q := newQueueFor(t)
	const each = 500
	var taken sync.Map
	var workers, adders sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				r, _, shutdown := q.GetWithPriority()
				if shutdown {
					return
				}
				taken.Store(r, true)
				q.Done(r)
			}
		})
	}
	for n := range 4 {
		adders.Go(func() {
			for i := range each {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: new(-i % 2)}, request(fmt.Sprint(n), fmt.Sprint(i)))
			}
		})
	}
	adders.Wait()
	q.ShutDownWithDrain()
	workers.Wait()
	count := 0
	taken.Range(func(any, any) bool { count++; return true })
	require.Equal(t, 4*each, count)
}

// BenchmarkFairQueue measures a request's way through the queue while 10,000 of one namespace wait.
func BenchmarkFairQueue(b *testing.B) {
	q := newQueueFor(b)
	for i := range 10_000 {
		q.Add(request("busy", fmt.Sprint(i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		r, _, _ := q.GetWithPriority()
		q.Done(r)
		q.Add(r)
	}
}
