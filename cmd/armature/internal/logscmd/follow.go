package logscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
)

const (
	// settle is how long changes are collected before the family is found again.
	settle = 200 * time.Millisecond
	// busyShare is how many times as long as that took the command waits before it does so again: any pod of the namespace is a change.
	busyShare = 9
	// listAgain is how long after a kind couldn't be listed the family is found again, without a change; twice as long each time, up to
	// listAgainAtMost.
	listAgain, listAgainAtMost = 10 * time.Second, 5 * time.Minute
	// reopenAfter is how long after the end of a stream the command checks whether its container still runs: a kubelet or a proxy may have
	// ended it.
	reopenAfter = time.Second
)

// followAll prints what containers print until the object has ended. It hears of new pods by a watch.
func (s *source) followAll(ctx context.Context, p *printer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := s.watchAgain(ctx)
	if err != nil {
		return err
	}
	logs := s.newFollower(p)
	delay, isLast := listAgain, false
	for {
		ended := hasEnded(s.root) // before its pods are found: there are no more of them then
		var f found
		err := s.persist(ctx, func() (err error) {
			began := time.Now()
			f, err = s.find(ctx)
			s.pause.Store(int64(max(settle, busyShare*time.Since(began))))
			return err
		})
		if err != nil {
			return err
		}
		if err := logs.start(ctx, f); err != nil {
			return err
		}
		var again <-chan time.Time
		if ended {
			delay = listAgain
		}
		if s.say(f.unread) {
			again = time.After(max(delay, time.Duration(s.pause.Load())))
			delay = min(2*delay, listAgainAtMost)
		} else {
			delay = listAgain
		}
		if ended && (again == nil || isLast) {
			return logs.wait()
		}
		isLast = ended // of an object that has ended, what failed is listed once more
		select {
		case <-again:
			if kinds, ok := s.cluster.Discovery.(discovery.CachedDiscoveryInterface); ok {
				kinds.Invalidate() // a group that couldn't be discovered may be available now
			}
		case root, ok := <-changes:
			if ok {
				s.root = root
				continue
			}
			if changes, err = s.watchAgain(ctx); err != nil { // the API server ends watches after a time
				return err
			}
		case <-logs.ends:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// persist makes a request until it succeeds or the API server refuses it, and says once that it repeats it.
func (s *source) persist(ctx context.Context, request func() error) error {
	delays := connect.Retries()
	for isSaid := false; ; isSaid = true {
		err := request()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil || connect.IsRefusal(err) {
			return err
		}
		if !isSaid {
			fmt.Fprintf(s.errs, "%v; repeating the request until the API server answers\n", err)
		}
		select {
		case <-time.After(delays.Step()):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watchAgain watches the object, and reads it: no watch has shown what happened before.
func (s *source) watchAgain(ctx context.Context) (changes <-chan *unstructured.Unstructured, err error) {
	err = s.persist(ctx, func() (err error) {
		changes, err = s.watch(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changes, s.persist(ctx, func() error { return s.readRoot(ctx) })
}

// readRoot reads the object again. One that doesn't exist any more is deleted, also if a new one has its name.
func (s *source) readRoot(ctx context.Context) error {
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(s.root.GroupVersionKind())
	err := s.cluster.Client.Get(ctx, client.ObjectKeyFromObject(s.root), now)
	switch {
	case apierrors.IsNotFound(err), err == nil && now.GetUID() != s.root.GetUID():
		s.root = deleted(s.root)
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", s.root.GetName(), err)
	}
	s.root = now
	return nil
}

// deleted returns an object that doesn't exist any more.
func deleted(root *unstructured.Unstructured) *unstructured.Unstructured {
	root = root.DeepCopy()
	root.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
	return root
}

// follower reads the logs of containers until these end.
type follower struct {
	source  *source
	printer *printer
	streams sync.WaitGroup
	ends    chan struct{} // a stream has ended some time ago

	mu    sync.Mutex
	known map[string]*reading // by start of a container

	ofRunning, ofEnded chan struct{} // one element for each log that is being read
}

// reading is how far the log of one start of a container has been read.
type reading struct {
	isOpen bool
	last   time.Time // of the last line
	err    error     // why the stream ended, if it was no end of the log
}

func (s *source) newFollower(p *printer) *follower {
	return &follower{
		source: s, printer: p, known: map[string]*reading{}, ends: make(chan struct{}, 1),
		ofRunning: make(chan struct{}, max(s.most, 1)), ofEnded: make(chan struct{}, max(s.most, 1)),
	}
}

// start begins to read the logs that aren't known yet, and goes on with those of running containers whose streams have ended. It returns
// an error if more containers run than logs may be read at a time. As many logs of containers that have ended are read beside them, so
// that they don't wait until those that run have ended.
func (f *follower) start(ctx context.Context, found found) error {
	running := 0
	for _, r := range found.started {
		if r.runs {
			running++
		}
	}
	if most := f.source.most; running > most {
		return tooMany(running, "run", most, found.parts)
	}
	for _, r := range found.started {
		log := f.begin(&r)
		if log == nil {
			continue
		}
		slots := f.ofEnded
		if r.runs {
			slots = f.ofRunning
		}
		f.streams.Go(func() {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			defer func() { <-slots }()
			last, err := f.source.stream(ctx, r, f.printer)
			f.end(log, last, err)
		})
	}
	return nil
}

// begin returns the reading of a log that is to be opened, nil if it is open, or has been read to its end.
func (f *follower) begin(r *runOf) *reading {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := fmt.Sprint(r.uid, "/", r.container, "/", r.restarts)
	log := f.known[key]
	switch {
	case log == nil:
		log = &reading{}
		f.known[key] = log
	case log.isOpen || !r.runs && log.err == nil:
		return nil
	case !log.last.IsZero():
		r.since, r.again = log.last, true
	}
	log.isOpen = true
	return log
}

// end notes the end of a stream, and lets the command check soon whether its container still runs.
func (f *follower) end(log *reading, last time.Time, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log.isOpen, log.err = false, err
	if !last.IsZero() {
		log.last = last
	}
	time.AfterFunc(reopenAfter, func() {
		select {
		case f.ends <- struct{}{}:
		default: // it will check anyway
		}
	})
}

// wait waits for the ends of all logs, and returns an error if one couldn't be read.
func (f *follower) wait() error {
	f.streams.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, log := range f.known {
		if log.err != nil {
			return log.err
		}
	}
	return nil
}

// stream prints the log of one container until it ends. It returns the time of the last line.
func (s *source) stream(ctx context.Context, r runOf, p *printer) (last time.Time, err error) {
	l, err := s.open(ctx, r, true)
	if err != nil {
		return last, err
	}
	defer l.closer.Close()
	for {
		e, err := l.next()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		if r.again && !e.at.After(r.since) { // an API server counts in seconds
			continue
		}
		last = e.at
		if err := p.print(e); err != nil {
			return last, err
		}
	}
}

// hasEnded reports whether an object will print nothing any more.
func hasEnded(root *unstructured.Unstructured) bool {
	o := diagnose.NewObject(root, nil)
	return root.GetDeletionTimestamp() != nil || o.HasEnded() && !diagnose.IsRetried(o)
}

// watch sends the object again when it or a pod of its namespace has changed, once for several changes in a short time. It closes the
// channel when a watch ends.
func (s *source) watch(ctx context.Context) (<-chan *unstructured.Unstructured, error) {
	pods, err := s.cluster.Client.Watch(ctx, &corev1.PodList{}, client.InNamespace(s.root.GetNamespace()))
	if err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(s.root.GroupVersionKind())
	self, err := s.cluster.Client.Watch(ctx, list, client.InNamespace(s.root.GetNamespace()),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", s.root.GetName())})
	if err != nil {
		pods.Stop()
		return nil, fmt.Errorf("watch %s: %w", s.root.GetName(), err)
	}
	changes := make(chan *unstructured.Unstructured)
	root := s.root
	go func() {
		defer close(changes)
		defer pods.Stop()
		defer self.Stop()
		var due <-chan time.Time
		for {
			var out chan *unstructured.Unstructured
			select {
			case <-ctx.Done():
				return
			case event, ok := <-self.ResultChan():
				if !ok {
					return
				}
				if u, isObject := event.Object.(*unstructured.Unstructured); isObject && event.Type != watch.Bookmark {
					if root = u; event.Type == watch.Deleted {
						root = deleted(u)
					}
				}
			case _, ok := <-pods.ResultChan():
				if !ok {
					return
				}
			case <-due:
				due, out = nil, changes
			}
			if out != nil {
				select {
				case out <- root:
				case <-ctx.Done():
					return
				}
			} else if due == nil {
				due = time.After(time.Duration(s.pause.Load()))
			}
		}
	}()
	return changes, nil
}
