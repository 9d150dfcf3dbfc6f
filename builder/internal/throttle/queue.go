package throttle

import (
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Queue is a work queue in which namespaces take turns: an owner waits for the other owners of its own namespace, and for at most one
// pass of each other namespace. As in controller-runtime's own queue, requests with a negative priority, which are the unchanged
// owners at a start, come after all others; but each eighth pass is one of theirs, so that a namespace with ever new changes doesn't keep
// them from theirs.
type Queue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	turns *turns
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = (*Queue)(nil)

// NewQueue returns a Queue, in the type that controller-runtime's option NewQueue takes.
func NewQueue(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	t := &turns{asked: map[reconcile.Request]int{}, popped: map[reconcile.Request]int{}, queued: map[reconcile.Request]*line{}}
	return &Queue{turns: t, TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
		workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{
			Name: name,
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{
				Name:  name,
				Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: t}),
			}),
		})}
}

// AddWithOpts adds requests with a priority, after a time or with the backoff.
func (q *Queue) AddWithOpts(o priorityqueue.AddOpts, requests ...reconcile.Request) {
	for _, r := range requests {
		q.turns.ask(r, ptr.Deref(o.Priority, 0))
		switch within := q.TypedRateLimitingInterface; {
		case o.RateLimited:
			within.AddRateLimited(r)
		case o.After > 0:
			within.AddAfter(r, o.After)
		default:
			within.Add(r)
		}
	}
}

// Add adds a request.
func (q *Queue) Add(r reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, r) }

// AddAfter adds a request after a time.
func (q *Queue) AddAfter(r reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, r)
}

// AddRateLimited adds a request after its backoff.
func (q *Queue) AddRateLimited(r reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, r)
}

// GetWithPriority returns the next request and its priority; true if the queue was shut down.
func (q *Queue) GetWithPriority() (reconcile.Request, int, bool) {
	r, shutdown := q.TypedRateLimitingInterface.Get()
	return r, q.turns.taken(r), shutdown
}

// Get returns the next request; true if the queue was shut down.
func (q *Queue) Get() (reconcile.Request, bool) {
	r, _, shutdown := q.GetWithPriority()
	return r, shutdown
}

// turns is the order of requests that wait. The queue around it calls Push, Touch, Len and Pop one at a time, and has each
// request in it once.
type turns struct {
	mu         sync.Mutex
	asked      map[reconcile.Request]int // priorities of requests that were added and not popped since; 0 has no entry
	popped     map[reconcile.Request]int // priorities of popped requests
	queued     map[reconcile.Request]*line
	soon, late line
	overtaken  int // requests popped from soon since the last one from late
}

// mostOvertaken is how many urgent requests overtake a less urgent one.
const mostOvertaken = 7

// line has the queued requests of one urgency.
type line struct {
	next []string // namespaces with requests, in their turn
	of   map[string][]reconcile.Request
}

// ask records the priority of a request before it is added. The highest of several counts.
func (t *turns) ask(r reconcile.Request, priority int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if was, asked := t.asked[r]; asked || t.queued[r] != nil {
		priority = max(priority, was)
	}
	delete(t.asked, r)
	if priority != 0 {
		t.asked[r] = priority
	}
}

// taken returns the priority of a request that has been popped.
func (t *turns) taken(r reconcile.Request) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	priority := t.popped[r]
	delete(t.popped, r)
	return priority
}

func (t *turns) lineOf(r reconcile.Request) *line {
	if t.asked[r] < 0 {
		return &t.late
	}
	return &t.soon
}

// Push adds a request that isn't queued.
func (t *turns) Push(r reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queued[r] = t.lineOf(r)
	t.queued[r].push(r)
}

// Touch is called for a queued request that was added again. If its priority has risen, it is queued a second time, and skipped in its
// old place.
func (t *turns) Touch(r reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queued[r] == &t.late && t.lineOf(r) == &t.soon {
		t.queued[r] = &t.soon
		t.soon.push(r)
	}
}

// Len returns the number of queued requests.
func (t *turns) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queued)
}

// Pop removes and returns the next request. The queue must not be empty.
func (t *turns) Pop() reconcile.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	order := []*line{&t.soon, &t.late}
	if t.overtaken >= mostOvertaken {
		slices.Reverse(order)
	}
	for _, l := range order {
		for len(l.next) > 0 {
			r := l.pop()
			if t.queued[r] != l {
				continue // its priority has risen
			}
			delete(t.queued, r)
			if t.overtaken++; l == &t.late {
				t.overtaken = 0
			}
			if priority, ok := t.asked[r]; ok {
				t.popped[r] = priority
				delete(t.asked, r)
			}
			if len(t.queued) == 0 {
				t.soon, t.late = line{}, line{} // with what has become more urgent
			}
			return r
		}
	}
	panic("throttle: a request was taken from an empty queue")
}

func (l *line) push(r reconcile.Request) {
	if l.of == nil {
		l.of = map[string][]reconcile.Request{}
	}
	if len(l.of[r.Namespace]) == 0 {
		l.next = append(l.next, r.Namespace)
	}
	l.of[r.Namespace] = append(l.of[r.Namespace], r)
}

func (l *line) pop() reconcile.Request {
	namespace := l.next[0]
	l.next = l.next[1:]
	waiting := l.of[namespace]
	if len(waiting) == 1 {
		delete(l.of, namespace)
	} else {
		l.of[namespace], l.next = waiting[1:], append(l.next, namespace)
	}
	return waiting[0]
}
