package refusal

import (
	"context"
	"regexp"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/text"
)

const (
	// freshness is how long the reasons in a namespace serve all its owners.
	freshness = 10 * time.Second
	// listTimeout limits the time of a list of events.
	listTimeout = 5 * time.Second
	// maxNamespaces and maxEvents limit the cache: 256 namespaces, 200 events of each.
	maxNamespaces, maxEvents = 256, 200
	// maxReason limits a reason, in bytes.
	maxReason = 512
)

// refusedPods selects the events of Jobs whose pods are refused.
var refusedPods = fields.AndSelectors(
	fields.OneTermEqualSelector("reason", "FailedCreate"), fields.OneTermEqualSelector("regarding.kind", "Job"))

// prefix is the part of an event's note before the reason. It has the pod's name, another one for each attempt to create it.
var prefix = regexp.MustCompile(`^Error creating: (pods "[^"]*" is forbidden: )?`)

// External returns the function of an operator whose owners have Jobs, for [builder.Operator.External]. Without a manager (nil) it finds
// nothing. The manager must be allowed to list the events of events.k8s.io; if it isn't, or the API server doesn't answer, the reasons
// are unknown, and the pass continues.
func External[T client.Object](mgr manager.Manager) func(context.Context, T, builder.View) (any, error) {
	if mgr == nil {
		return func(context.Context, T, builder.View) (any, error) { return reasons(nil), nil }
	}
	c := newCache(mgr.GetAPIReader())
	return func(ctx context.Context, owner T, view builder.View) (any, error) {
		return c.find(ctx, owner.GetNamespace(), view), nil
	}
}

// cache has the reasons of the last list of each namespace.
type cache struct {
	reader client.Reader
	mu     sync.Mutex
	recent *lru.Cache[string, entry] // by namespace
}

// entry is what a list has found. It isn't changed.
type entry struct {
	listed  time.Time
	reasons reasons
}

func newCache(reader client.Reader) *cache {
	recent, _ := lru.New[string, entry](maxNamespaces) // fails only for a size below 1
	return &cache{reader: reader, recent: recent}
}

// find returns the reasons of an owner's Jobs. It lists events only if one of the Jobs has been without pods for too long.
func (c *cache) find(ctx context.Context, namespace string, view builder.View) reasons {
	due := func(job *batchv1.Job) bool { return isDue(job, view.Now) }
	if !slices.ContainsFunc(builder.Owned[*batchv1.Job](view), due) {
		return nil
	}
	c.mu.Lock()
	last, ok := c.recent.Get(namespace)
	if ok && view.Now.Sub(last.listed) < freshness {
		c.mu.Unlock()
		return last.reasons
	}
	c.recent.Add(namespace, entry{view.Now, last.reasons}) // what other workers get while this one lists
	c.mu.Unlock()

	found, err := c.list(ctx, namespace)
	if err != nil {
		return last.reasons
	}
	c.recent.Add(namespace, entry{view.Now, found})
	return found
}

// list returns the reason in the last event of each Job.
func (c *cache) list(ctx context.Context, namespace string) (reasons, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	var list eventsv1.EventList
	err := c.reader.List(ctx, &list, client.InNamespace(namespace), client.Limit(maxEvents),
		client.MatchingFieldsSelector{Selector: refusedPods})
	if err != nil {
		return nil, err
	}
	found, latest := reasons{}, map[types.UID]time.Time{}
	for i := range list.Items {
		e := &list.Items[i]
		job, at := e.Regarding.UID, lastTime(e)
		if _, ok := found[job]; ok && !at.After(latest[job]) {
			continue
		}
		found[job], latest[job] = text.Shorten(prefix.ReplaceAllString(e.Note, ""), maxReason), at
	}
	return found, nil
}

// lastTime returns when an event happened for the last time, whichever recorder made it.
func lastTime(e *eventsv1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.DeprecatedLastTimestamp.IsZero():
		return e.DeprecatedLastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}
