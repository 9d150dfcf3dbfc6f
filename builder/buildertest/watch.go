package buildertest

import (
	"context"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Event is a watch event, with the key of its object.
type Event struct {
	Type   watch.EventType
	Object client.Object
}

// DropEvents makes this client's watches drop the events for which drop returns true.
func (c *Client) DropEvents(drop func(Event) bool) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.drops = append(c.drops, drop)
}

// watcher is a started watch. Its events wait in a queue, so that a slow reader blocks no other.
type watcher struct {
	client    *Client
	kind      kind
	namespace string
	selector  labels.Selector
	byField   func(client.Object) (bool, error)
	list      client.ObjectList

	results chan watch.Event
	wake    chan struct{}
	stop    chan struct{}
	once    sync.Once

	mu    sync.Mutex
	queue []watch.Event
}

// Watch implements client.WithWatch, with the selectors of List. Without a resource version it starts with an Added event for each
// existing object, as the API server does.
func (c *Client) Watch(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	r, err := c.request(VerbWatch, list, types.NamespacedName{Namespace: o.Namespace})
	if err != nil {
		return nil, err
	}
	w := &watcher{
		client: c, kind: r.kind, namespace: o.Namespace, selector: o.LabelSelector, list: list,
		results: make(chan watch.Event), wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	_, err = c.call(ctx, r, func() (client.Object, error) { return nil, w.begin(o) })
	if err != nil {
		return nil, err
	}
	go w.run(ctx)
	return w, nil
}

// begin queues events for the existing objects, or for changes since a resource version, and registers the watch.
func (w *watcher) begin(o *client.ListOptions) error {
	s := w.client.server
	var err error
	if w.byField, err = w.client.fieldSelector(w.kind, o.FieldSelector); err != nil {
		return err
	}
	version := ""
	if o.Raw != nil {
		version = o.Raw.ResourceVersion
	}
	if version == "" || version == "0" {
		for _, obj := range s.list(w.kind.gvk, s.version) {
			w.send(change{gvk: w.kind.gvk, kind: watch.Added, object: obj})
		}
		s.watchers[w] = struct{}{}
		return nil
	}
	since, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return apierrors.NewBadRequest("invalid resource version: " + version)
	}
	for _, ch := range s.log {
		if ch.version > since {
			w.send(ch)
		}
	}
	s.watchers[w] = struct{}{}
	return nil
}

// send sends a change to all watches. The caller holds the server's lock.
func (s *Server) send(ch change) {
	s.log = append(s.log, ch)
	for w := range s.watchers {
		w.send(ch)
	}
}

// send queues a change if the watch selects it. An object that begins or ceases to match the selectors is added or deleted.
func (w *watcher) send(ch change) {
	if ch.gvk != w.kind.gvk || (w.namespace != "" && ch.object.GetNamespace() != w.namespace) {
		return
	}
	kind := ch.kind
	matches, matched := w.selects(ch.object), w.selects(ch.before)
	switch {
	case !matches && !matched:
		return
	case kind == watch.Modified && !matches:
		kind = watch.Deleted
	case kind == watch.Modified && !matched:
		kind = watch.Added
	}
	for _, drop := range w.client.drops {
		if drop(Event{kind, copyOf(ch.object)}) {
			return
		}
	}
	item, err := w.client.itemOf(w.list, w.kind.gvk)
	if err != nil {
		return
	}
	if err := w.client.server.encode(ch.object, w.kind.gvk, item); err != nil {
		return
	}
	w.mu.Lock()
	w.queue = append(w.queue, watch.Event{Type: kind, Object: item})
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// selects reports whether an object matches the watch's selectors. It is false for nil.
func (w *watcher) selects(obj client.Object) bool {
	if obj == nil || w.selector != nil && !w.selector.Matches(labels.Set(obj.GetLabels())) {
		return false
	}
	matches, err := w.byField(obj)
	return err == nil && matches
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.results)
	defer w.forget()
	for {
		w.mu.Lock()
		queue := w.queue
		w.queue = nil
		w.mu.Unlock()
		for _, event := range queue {
			select {
			case w.results <- event:
			case <-w.stop:
				return
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-w.wake:
		case <-w.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (w *watcher) forget() {
	s := w.client.server
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, w)
}

// Stop implements watch.Interface.
func (w *watcher) Stop() { w.once.Do(func() { close(w.stop) }) }

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.results }
