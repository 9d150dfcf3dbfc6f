package refusal

import (
	"context"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/message"
)

const (
	// freshness is how long what was found out about a namespace serves all its owners.
	freshness = 10 * time.Second
	// listTimeout is how long a list of events may take.
	listTimeout = 5 * time.Second
	// maxSpaces and maxEvents bound what is remembered: 256 namespaces, 200 events of each.
	maxSpaces, maxEvents = 256, 200
	// maxWords bounds what is remembered of an event, in bytes.
	maxWords = 512
)

// refusedPods selects the events of Jobs whose pods are refused.
var refusedPods = fields.AndSelectors(
	fields.OneTermEqualSelector("reason", "FailedCreate"), fields.OneTermEqualSelector("regarding.kind", "Job"))

// External returns the function of an operator whose owners have Jobs, for [builder.Operator.External]. Without a manager (nil) it finds
// nothing. The manager must be allowed to list the events of events.k8s.io; if it isn't, or the API server doesn't answer,
// nothing is known, and the pass goes on.
func External[T client.Object](mgr manager.Manager) func(context.Context, T, builder.View) (any, error) {
	if mgr == nil {
		return func(context.Context, T, builder.View) (any, error) { return known(nil), nil }
	}
	s := newSpaces(mgr.GetAPIReader())
	return func(ctx context.Context, owner T, seen builder.View) (any, error) {
		return s.sense(ctx, owner.GetNamespace(), seen)
	}
}

// spaces is what is known of namespaces.
type spaces struct {
	reader client.Reader
	mu     sync.Mutex
	all    *lru.Cache[string, space] // by namespace
}

func newSpaces(reader client.Reader) *spaces {
	all, _ := lru.New[string, space](maxSpaces) // fails only for a size below 1
	return &spaces{reader: reader, all: all}
}

// space is what was found in a namespace. It isn't changed any more.
type space struct {
	asked time.Time
	found known
}

// sense returns what is known of an owner's Jobs, as a known: it asks only if one of them is without pods for too long.
func (s *spaces) sense(ctx context.Context, namespace string, seen builder.View) (any, error) {
	due := func(job *batchv1.Job) bool { return isDue(job, seen.Now) }
	if !slices.ContainsFunc(builder.Owned[*batchv1.Job](seen), due) {
		return known(nil), nil
	}
	return s.of(ctx, namespace, seen.Now), nil
}

// of returns why Jobs of a namespace have no pods. While one worker asks the API server, the others have what was known before.
func (s *spaces) of(ctx context.Context, namespace string, now time.Time) known {
	s.mu.Lock()
	before, ok := s.all.Get(namespace)
	if ok && now.Sub(before.asked) < freshness {
		s.mu.Unlock()
		return before.found
	}
	s.all.Add(namespace, space{asked: now, found: before.found})
	s.mu.Unlock()

	found, err := s.list(ctx, namespace)
	if err != nil {
		return before.found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Add(namespace, space{asked: now, found: found})
	return found
}

func (s *spaces) list(ctx context.Context, namespace string) (known, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	var list eventsv1.EventList
	err := s.reader.List(ctx, &list, client.InNamespace(namespace), client.Limit(maxEvents),
		client.MatchingFieldsSelector{Selector: refusedPods})
	if err != nil {
		return nil, err
	}
	found, latest := known{}, map[string]time.Time{}
	for i := range list.Items {
		e := &list.Items[i]
		uid, at := e.Regarding.UID, lastSeen(e)
		if _, ok := found[uid]; ok && !at.After(latest[string(uid)]) {
			continue
		}
		found[uid], latest[string(uid)] = message.Cut(words(e.Note), maxWords), at
	}
	return found, nil
}

// lastSeen is when an event happened for the last time, whichever recorder made it.
func lastSeen(e *eventsv1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.DeprecatedLastTimestamp.IsZero():
		return e.DeprecatedLastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}
