package uiserver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// pageSize is the number of objects of one list request. After an answer that is too large, the pages have one part in pageShrinks of
	// it, and then grow again.
	pageSize, pageShrinks = 500, 20
	// maxObjects is how many objects a feed holds at most. Of more it shows the first. When it has a tenth fewer again, it lists once more.
	maxObjects = 50_000
	// watchSeconds is how long a watch lasts at least; at most, it lasts twice as long. The API server checks the viewer's rights when a
	// watch begins, so this bounds how long a lost right still shows something. Its own default is 30 to 60 minutes.
	watchSeconds int64 = 300
	// firstPause and longestPause are between attempts to reach an API server that doesn't answer.
	firstPause, longestPause = 200 * time.Millisecond, 5 * time.Second
	// longestRefusal is between attempts while the API server refuses: rights may be granted, a kind may be installed, and an API server
	// that has just started refuses everyone until it has read the roles.
	longestRefusal = 2 * time.Minute
)

// source is what a feed watches: the objects of a kind in a namespace, or in all of them, that the selectors select.
type source struct {
	gvk       schema.GroupVersionKind
	namespace string
	labels    string
	fields    string
}

// sourceState says whether a feed is up to date, and if it isn't, why.
type sourceState struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	State     string `json:"state"`
	Message   string `json:"message,omitempty"`
}

// The states of a source.
const (
	stateLoading     = "loading"
	stateLive        = "live"
	stateForbidden   = "forbidden"
	stateAbsent      = "absent"
	stateUnreachable = "unreachable"
	stateLimited     = "limited"
	stateLoggedOut   = "unauthorized"
)

// item is what a feed holds of an object.
type item[T any] struct {
	version string
	value   T
}

// feed holds what is shown of the objects of one source, by one watch. It works per change: nothing is listed twice unless the API
// server has forgotten the changes since.
type feed[T any] struct {
	source  source
	client  client.WithWatch
	user    func() any // whose feed it is
	project func(*unstructured.Unstructured) T
	room    int // how many objects it holds at most

	mu      sync.Mutex
	items   map[types.UID]item[T]
	state   sourceState
	synced  bool // all that exists has been read once
	skipped bool // of some of them, because there are too many
	readers map[*reader[T]]struct{}
}

func newFeed[T any](c client.WithWatch, user func() any, s source, project func(*unstructured.Unstructured) T) *feed[T] {
	return &feed[T]{
		source: s, client: c, user: user, project: project, room: maxObjects, items: map[types.UID]item[T]{}, readers: map[*reader[T]]struct{}{},
		state: sourceState{Kind: s.gvk.Kind, Namespace: s.namespace, State: stateLoading},
	}
}

// run lists and watches until the context ends, or the viewer's token does.
func (f *feed[T]) run(ctx context.Context) {
	version, pause := "", firstPause
	for ctx.Err() == nil {
		var err error
		isList, began := version == "", time.Now()
		if isList {
			version, err = f.list(ctx)
		} else {
			version, err = f.watch(ctx, version)
		}
		if !isList && time.Since(began) > longestPause {
			pause = firstPause // a list alone is no success: it is repeated if the watch after it is refused
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			continue
		case apierrors.IsUnauthorized(err):
			f.hide(stateLoggedOut, err)
			return
		}
		longest := longestPause
		switch {
		case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			version = ""
		case apierrors.IsForbidden(err):
			version, longest = "", longestRefusal
			f.hide(stateForbidden, err)
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err), apierrors.IsMethodNotSupported(err):
			version, longest = "", longestRefusal
			f.hide(stateAbsent, err)
		default:
			f.unreachable(err)
		}
		pause = min(pause, longest)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // spreads the attempts of many feeds
		}
		pause *= 2
	}
}

// hide forgets all objects: what the viewer may not see any more.
func (f *feed[T]) hide(state string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = true
	for uid := range f.items {
		f.forget(uid)
	}
	if f.state.State != state {
		f.setState(state, err.Error())
	}
}

func (f *feed[T]) unreachable(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state.State != stateUnreachable {
		f.setState(stateUnreachable, fmt.Sprintf("since %s UTC: %v", time.Now().UTC().Format(time.TimeOnly), err))
	}
}

// options are those of each request.
func (f *feed[T]) options(more ...client.ListOption) ([]client.ListOption, error) {
	selected, err := labels.Parse(f.source.labels)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	all := append([]client.ListOption{client.InNamespace(f.source.namespace)}, more...)
	if f.source.labels != "" {
		all = append(all, client.MatchingLabelsSelector{Selector: selected})
	}
	if f.source.fields != "" {
		bound, err := fields.ParseSelector(f.source.fields)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		all = append(all, client.MatchingFieldsSelector{Selector: bound})
	}
	return all, nil
}

func (f *feed[T]) newList() *listed {
	list := &listed{}
	list.SetGroupVersionKind(f.source.gvk.GroupVersion().WithKind(f.source.gvk.Kind + "List"))
	return list
}

// list reads all objects page by page, and returns the version to watch from.
func (f *feed[T]) list(ctx context.Context) (version string, err error) {
	f.mu.Lock()
	f.skipped = false
	f.mu.Unlock()
	seen, next, limit := map[types.UID]bool{}, "", int64(pageSize)
	for {
		list, err := f.page(ctx, limit, next, seen)
		if errors.Is(err, errLargeAnswer) {
			limit = max(1, limit/pageShrinks)
			continue
		}
		if err != nil {
			return "", err
		}
		if version, next = list.GetResourceVersion(), list.GetContinue(); next == "" {
			break
		}
		limit = min(pageSize, 2*limit)
	}
	if version == "" {
		return "", fmt.Errorf("the API server's list of %s has no resourceVersion to watch from", f.source.gvk.Kind)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for uid := range f.items {
		if !seen[uid] {
			f.forget(uid)
		}
	}
	f.synced = true
	f.setLive()
	return version, nil
}

// page reads one page.
func (f *feed[T]) page(ctx context.Context, limit int64, at string, seen map[types.UID]bool) (*listed, error) {
	options, err := f.options(client.Limit(limit), client.Continue(at))
	if err != nil {
		return nil, err
	}
	ctx, held := hold(ctx, f.user(), limit > 1)
	defer held.end()
	list := f.newList()
	err = f.client.List(ctx, list, options...)
	if held.isLarge {
		return nil, errLargeAnswer
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return list, list.each(f.source, func(u *unstructured.Unstructured) {
		seen[u.GetUID()] = true
		f.set(u)
	})
}

// watch follows changes from a version on, until the API server ends the watch. It returns the version that it has come to, "" if it
// can hold some of the skipped objects now.
func (f *feed[T]) watch(ctx context.Context, version string) (string, error) {
	seconds := watchSeconds + rand.Int64N(watchSeconds) //nolint:gosec // spreads the ends of many watches
	options, err := f.options(&client.ListOptions{
		Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &seconds},
	})
	if err != nil {
		return version, err
	}
	w, err := f.client.Watch(ctx, f.newList(), options...)
	if err != nil {
		return version, err
	}
	defer w.Stop()
	f.mu.Lock()
	f.setLive()
	f.mu.Unlock()
	began := time.Now()
	for event := range w.ResultChan() {
		u, ok := event.Object.(*unstructured.Unstructured)
		if event.Type == watch.Error || !ok {
			return version, apierrors.FromObject(event.Object)
		}
		version = u.GetResourceVersion()
		f.mu.Lock()
		switch event.Type {
		case watch.Added, watch.Modified:
			f.set(u)
		case watch.Deleted:
			f.forget(u.GetUID())
		}
		roomAgain := f.skipped && len(f.items) < f.room-f.room/10
		f.mu.Unlock()
		if roomAgain {
			return "", nil
		}
	}
	if time.Since(began) < firstPause {
		return version, fmt.Errorf("the API server ended the watch of %s at once", f.source.gvk.Kind)
	}
	return version, nil
}

// named reports whether an object has the name that the source selects, if it selects one. An API server sends no other.
func (f *feed[T]) named(u *unstructured.Unstructured) bool {
	name, ok := strings.CutPrefix(f.source.fields, "metadata.name=")
	return !ok || name == u.GetName()
}

// set notes an object. The caller holds the lock, as of forget, setLive and setState.
func (f *feed[T]) set(u *unstructured.Unstructured) {
	uid := u.GetUID()
	known, ok := f.items[uid]
	switch {
	case !f.named(u):
		return
	case ok && known.version == u.GetResourceVersion():
		return
	case !ok && len(f.items) >= f.room:
		if !f.skipped {
			f.skipped = true
			f.setLive()
		}
		return
	}
	value := f.project(u)
	f.items[uid] = item[T]{u.GetResourceVersion(), value}
	if ok && reflect.DeepEqual(known.value, value) {
		return // a node's heartbeat, for example: nothing changes of what is shown
	}
	for r := range f.readers {
		r.note(uid)
	}
}

func (f *feed[T]) forget(uid types.UID) {
	if _, ok := f.items[uid]; !ok {
		return
	}
	delete(f.items, uid)
	for r := range f.readers {
		r.note(uid)
	}
}

func (f *feed[T]) setLive() {
	if f.skipped {
		f.setState(stateLimited, fmt.Sprintf("only %d of them are shown", f.room))
		return
	}
	f.setState(stateLive, "")
}

func (f *feed[T]) setState(state, message string) {
	if f.state.State == state && f.state.Message == message {
		return
	}
	f.state.State, f.state.Message = state, message
	for r := range f.readers {
		r.newState = true
		r.poke()
	}
}
