package scaling

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/dsoi"
)

// reading is the number that a source told, or why it told none.
type reading struct {
	value float64
	err   error
}

// about is what a number or a decision is about: the pods of an entry, or (with a storage) its volumes.
type about struct{ entry, storage string }

// seenPods is what the readings know of an entry's pods.
type seenPods struct {
	// replicas is the number of pods that the last reading is of.
	replicas int32
	// since is the time of the first reading of this number of pods. If isFirst, that is the first reading since the start of the manager, and
	// they may be older.
	since   time.Time
	isFirst bool
	// formerSince is the time of the first reading of the number of pods before, zero if that isn't known, and changedAfter that of the last
	// one, zero if there was none since the start of the manager.
	formerSince, changedAfter time.Time
}

// from returns since when there are these pods; zero if that isn't known.
func (s seenPods) from() time.Time {
	if s.isFirst {
		return time.Time{}
	}
	return s.since
}

// external is all that a plan needs to know beside what is in its view.
type external struct {
	readings map[about]reading
	// at is when they were read. It isn't an age, because the builder may keep them for a later plan.
	at time.Time
	// pods are those that the readings are of, by entry. An entry without a workload has none.
	pods map[string]seenPods
	// claims are those of the entries that scale storage, by entry and storageConfig.
	claims map[about][]*corev1.PersistentVolumeClaim
	// grows says of storage classes whether their volumes can grow.
	grows map[string]bool
	// rivals are older objects that scale the same.
	rivals map[about]string
	// taken has the names of HorizontalPodAutoscalers that the entries need and that others have, with their controllers.
	taken map[string]string
	// busy: others of the namespace wait for endpoints, and the sources weren't asked.
	busy bool
}

// senses are where the controller looks.
type senses struct {
	cached client.Reader
	live   client.Reader
	scheme *runtime.Scheme
	// clusterKind is the kind of the clusters.
	clusterKind schema.GroupKind
	allow       func(*url.URL) error
	// loopback: endpoints may be on this machine.
	loopback bool
	last     *lru.Cache[types.UID, lastReadings]
	turns    *turns
}

// lastReadings are kept for the interval: a pass may come for other reasons.
type lastReadings struct {
	at         time.Time
	generation int64
	readings   map[about]reading
	pods       map[string]seenPods
}

const (
	// maxRemembered bounds of how many objects readings are kept.
	maxRemembered = 4096
	// parallel is how many sources of one object are asked at a time.
	parallel = 8
	// askFor is for how long sources of one object are asked, one after another, before the others are left out.
	askFor = time.Minute
	// busyDelay is when an object comes back whose sources weren't asked.
	busyDelay = time.Second
)

func (s *senses) prepare(cached client.Client, live client.Reader, allow func(*url.URL) error, loopback bool, workers int) {
	s.cached, s.live, s.scheme, s.allow, s.loopback = cached, live, cached.Scheme(), allow, loopback
	if s.allow == nil {
		s.allow = func(*url.URL) error { return nil }
	}
	s.turns = newTurns(workers)
	s.last, _ = lru.New[types.UID, lastReadings](maxRemembered) // fails only for a size below 1
}

// observe asks all sources of an object that are due, and looks at claims.
func (c *Controller[S]) observe(ctx context.Context, scaling S, view builder.View) (any, error) {
	out := &external{}
	var err error
	if out.rivals, err = c.rivals(ctx, scaling); err != nil {
		return nil, err
	}
	if out.taken, err = c.takenNames(ctx, scaling); err != nil {
		return nil, err
	}
	if out.claims, err = c.claimsOf(ctx, scaling); err != nil {
		return nil, err
	}
	if out.grows, err = c.classesOf(ctx, out.claims); err != nil {
		return nil, err
	}
	last, busy, err := c.read(ctx, scaling, view)
	out.readings, out.at, out.pods, out.busy = last.readings, last.at, last.pods, busy
	return out, err
}

// read returns what the sources say, as it was read less than an interval ago. If the namespace has had its turns, none is asked. What
// has no sources to ask, but a resource, needs no turn.
func (c *Controller[S]) read(ctx context.Context, scaling S, view builder.View) (last lastReadings, busy bool, err error) {
	spec, now := scaling.ScalingSpec(), view.Now
	every, _ := intervalOf(spec) // if it is wrong the plan says so
	if last, ok := c.senses.last.Get(scaling.GetUID()); ok {
		if age := now.Sub(last.at); age >= 0 && age < every && last.generation == scaling.GetGeneration() {
			return last, false, nil
		}
	}
	all := questions(scaling)
	if len(all) > 0 {
		if !c.senses.turns.take(scaling.GetNamespace()) {
			return lastReadings{}, true, nil
		}
		defer c.senses.turns.release(scaling.GetNamespace())
	}
	readings, err := c.senses.ask(ctx, scaling.GetNamespace(), all)
	former, _ := c.senses.last.Get(scaling.GetUID())
	last = lastReadings{now, scaling.GetGeneration(), readings, c.podsOf(scaling, view, former)}
	if err == nil {
		c.senses.last.Add(scaling.GetUID(), last)
	}
	return last, false, err
}

// podsOf returns the pods that a reading is of, given the former reading.
func (c *Controller[S]) podsOf(scaling S, view builder.View, former lastReadings) map[string]seenPods {
	all := map[string]seenPods{}
	for i := range scaling.ScalingSpec().Autoscaling {
		e := &scaling.ScalingSpec().Autoscaling[i]
		target := targetOf(scaling, c.senses.clusterKind, view, e.Name)
		if !isOn(e.Spec) || target == nil {
			continue
		}
		pods, wasSeen := former.pods[e.Name]
		switch replicas := replicasOf(target); {
		case !wasSeen:
			pods = seenPods{replicas: replicas, since: view.Now, isFirst: true}
		case pods.replicas != replicas:
			pods = seenPods{replicas: replicas, since: view.Now, formerSince: pods.from(), changedAfter: former.at}
		}
		all[e.Name] = pods
	}
	return all
}

// asked is a question and who is asked.
type asked struct {
	question
	source *v1beta1.Source
}

// questions returns what to ask for an object's entries. What is wrong in an entry the plan tells of.
func questions(scaling dsoi.Scaling) map[about]asked {
	spec := scaling.ScalingSpec()
	all := map[about]asked{}
	for i := range spec.Autoscaling {
		e := &spec.Autoscaling[i]
		q := question{namespace: scaling.GetNamespace(), cluster: dsoi.ScaledCluster(scaling), node: e.Name}
		if isOn(e.Spec) {
			if r, err := readReplicas(spec, e.Spec); err == nil && r.source.Resource == "" {
				all[about{entry: e.Name}] = asked{q, r.source}
			}
		}
		for j := range e.Storage {
			if r, err := readStorage(spec, &e.Storage[j]); err == nil {
				q.storage = r.name
				all[about{e.Name, r.name}] = asked{q, r.source}
			}
		}
	}
	return all
}

// ask asks several sources of one namespace at a time, for a bounded time.
func (s *senses) ask(ctx context.Context, namespace string, all map[about]asked) (map[about]reading, error) {
	secrets := newSecretReader(ctx, s.live, namespace)
	return s.askEach(ctx, all, func(a asked) (float64, error) { return s.number(ctx, secrets, a) })
}

func (s *senses) askEach(ctx context.Context, all map[about]asked, number func(asked) (float64, error)) (map[about]reading, error) {
	until := time.Now().Add(askFor)
	var mu sync.Mutex
	var group sync.WaitGroup
	turn := make(chan struct{}, parallel)
	readings := make(map[about]reading, len(all))
	var failed error
	for _, what := range slices.Collect(maps.Keys(all)) {
		group.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			value, err := 0.0, errAskedTooLong
			if time.Now().Before(until) {
				value, err = number(all[what])
			}
			mu.Lock()
			defer mu.Unlock()
			if failed == nil && errors.Is(err, errInCluster) { // one of them is enough: the pass is tried again
				failed = err
			}
			readings[what] = reading{value, err}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err() // no one waits for it any more
	}
	return readings, failed
}

var errAskedTooLong = fmt.Errorf("it wasn't asked: those before it took %s together", askFor)

// number asks one source.
func (s *senses) number(ctx context.Context, secrets *secretReader, a asked) (float64, error) {
	var where *url.URL
	var access *v1beta1.HTTPAccess
	var err error
	parse := parseNumber
	if p := a.source.Prometheus; p != nil {
		where, err = queryURL(p, a.question)
		access, parse = &p.HTTPAccess, parseQuery
	} else {
		where, err = urlOf(a.source.External.URL, a.question)
		access = &a.source.External.HTTPAccess
	}
	if err == nil {
		err = s.allow(where)
	}
	if err != nil {
		return 0, err
	}
	timeout, err := timeoutOf(access)
	if err != nil {
		return 0, err
	}
	credentials, err := credentialsOf(secrets, access)
	if err != nil {
		return 0, err
	}
	answer, err := get(ctx, where, credentials, timeout, s.loopback, s.allow)
	if err != nil {
		return 0, err
	}
	return parse(answer)
}

// claimsOf returns the claims of the entries that scale storage.
func (c *Controller[S]) claimsOf(ctx context.Context, scaling S) (map[about][]*corev1.PersistentVolumeClaim, error) {
	var entries []v1beta1.NodeScaling
	for _, e := range scaling.ScalingSpec().Autoscaling {
		if len(e.Storage) > 0 {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	var list corev1.PersistentVolumeClaimList
	cluster := dsoi.ScaledCluster(scaling)
	names := namesOf(cluster, entries)
	err := c.senses.cached.List(ctx, &list, client.InNamespace(scaling.GetNamespace()),
		client.MatchingLabels{dsoi.LabelCluster: dsoi.LabelValue(cluster)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list the claims of %s: %w", cluster, err)
	}
	claims := map[about][]*corev1.PersistentVolumeClaim{}
	for i := range list.Items {
		claim := &list.Items[i]
		if claim.Annotations[dsoi.AnnotationCluster] != cluster {
			continue
		}
		for _, name := range names.of(claim.Labels[dsoi.LabelNode]) {
			what := about{name, claim.Annotations[dsoi.AnnotationStorage]}
			claims[what] = append(claims[what], claim)
		}
	}
	return claims, nil
}

// classesOf says of the storage classes of claims whether their volumes can grow. A class that is gone can't let them.
func (c *Controller[S]) classesOf(ctx context.Context, claims map[about][]*corev1.PersistentVolumeClaim) (map[string]bool, error) {
	grows := map[string]bool{}
	for _, of := range claims {
		for _, claim := range of {
			name := classOf(claim)
			if _, known := grows[name]; known || name == "" {
				continue
			}
			class := &storagev1.StorageClass{}
			err := c.senses.cached.Get(ctx, client.ObjectKey{Name: name}, class)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read StorageClass %s: %w", name, err)
			}
			grows[name] = err == nil && class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion
		}
	}
	return grows, nil
}

func classOf(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}
