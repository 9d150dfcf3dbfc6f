package kindmetrics

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Metrics are those of all kinds of a manager.
type Metrics struct {
	elected <-chan struct{}

	finished  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	latencies *prometheus.HistogramVec
	waits     *prometheus.HistogramVec
	objects   *prometheus.Desc

	mu     sync.Mutex
	states map[string]map[types.UID]state // by kind
	queues map[string]bool                // the FluxSetups that exist
}

// New returns metrics that count once elected is closed.
func New(elected <-chan struct{}) *Metrics {
	return &Metrics{
		elected: elected,
		states:  map[string]map[types.UID]state{},
		queues:  map[string]bool{},
		objects: prometheus.NewDesc("armature_objects",
			"Objects of a kind, by state: waiting (not started yet), active, finished.", []string{"kind", "state"}, nil),
		finished: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "armature_finished_total",
			Help: "Objects that have ended, by kind and outcome (succeeded, failed).",
		}, []string{"kind", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "armature_duration_seconds",
			Help:    "How long objects ran, from their start to their end.",
			Buckets: prometheus.ExponentialBuckets(1, 3, 12), // 1 s to 2 days
		}, []string{"kind", "outcome"}),
		latencies: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "armature_start_latency_seconds",
			Help:    "How long it took from an object's creation to its start; of a FluxJob, to its first admission.",
			Buckets: prometheus.ExponentialBuckets(.1, 3, 13), // 0.1 s to 15 hours
		}, []string{"kind"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "armature_queue_wait_seconds",
			Help:    "How long objects waited in a queue for each admission: since their creation, or since they lost the one before.",
			Buckets: prometheus.ExponentialBuckets(.1, 3, 13),
		}, []string{"kind", "queue"}),
	}
}

// Watch adds metrics of these kinds to a manager that hasn't been started.
func Watch(ctx context.Context, mgr ctrl.Manager, kinds ...client.Object) error {
	m := New(mgr.Elected())
	if err := metrics.Registry.Register(m); err != nil {
		return fmt.Errorf("register the metrics of kinds: %w", err)
	}
	for _, like := range kinds {
		gvk, err := apiutil.GVKForObject(like, mgr.GetScheme())
		if err != nil {
			return err
		}
		if err := watch(ctx, mgr, like, m.handler(gvk.Kind)); err != nil {
			return fmt.Errorf("watch %s for its metrics: %w", gvk.Kind, err)
		}
		if _, ok := like.(*v1alpha1.FluxJob); ok {
			if err := watch(ctx, mgr, &v1alpha1.FluxSetup{}, m.queueHandler()); err != nil {
				return fmt.Errorf("watch FluxSetup for the metrics of %s: %w", gvk.Kind, err)
			}
		}
	}
	return nil
}

func watch(ctx context.Context, mgr ctrl.Manager, like client.Object, handler cache.ResourceEventHandler) error {
	informer, err := mgr.GetCache().GetInformer(ctx, like)
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(handler)
	return err
}

// queueHandler follows the FluxSetups, so that there are series of existing queues only.
func (m *Metrics) queueHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.queues[nameOf(obj)] = true
		},
		DeleteFunc: func(obj any) {
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.queues, nameOf(obj))
			m.waits.DeletePartialMatch(prometheus.Labels{"queue": nameOf(obj)})
		},
	}
}

// nameOf returns the name of the object of an event.
func nameOf(obj any) string {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	if o, ok := obj.(client.Object); ok {
		return o.GetName()
	}
	return ""
}

// handler follows the objects of a kind. Of a kind without objects there are zeros, so that what is absent is the manager. A counter, too,
// begins with 0: Prometheus doesn't count the first value of a series as an increase.
func (m *Metrics) handler(kind string) cache.ResourceEventHandler {
	m.mu.Lock()
	m.states[kind] = map[types.UID]state{}
	m.mu.Unlock()
	for _, outcome := range []string{succeeded, failed} {
		m.finished.WithLabelValues(kind, outcome)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { m.saw(kind, nil, obj) },
		UpdateFunc: func(before, after any) {
			if before.(client.Object).GetUID() != after.(client.Object).GetUID() { // recreated in a gap of the watch
				m.forget(kind, before)
				before = nil
			}
			m.saw(kind, before, after)
		},
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			m.forget(kind, obj)
		},
	}
}

// forget drops an object that is gone.
func (m *Metrics) forget(kind string, obj any) {
	if o, ok := obj.(client.Object); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.states[kind], o.GetUID())
	}
}

// saw notes an object's state, and what has happened since it was seen before.
func (m *Metrics) saw(kind string, before, after any) {
	now, ok := lifeOf(after)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[kind][after.(client.Object).GetUID()] = now.state()
	was, known := lifeOf(before)
	if !known || !m.leads() {
		return
	}
	if was.started == nil && was.ended == nil && now.started != nil {
		m.latencies.WithLabelValues(kind).Observe(now.latency().Seconds())
	}
	if got := shareOf(after); m.queues[got.queue] && !got.of.Equal(shareOf(before).of) {
		m.waits.WithLabelValues(kind, got.queue).Observe(got.waited.Seconds())
	}
	if was.ended == nil && now.ended != nil {
		m.finished.WithLabelValues(kind, now.outcome()).Inc()
		m.durations.WithLabelValues(kind, now.outcome()).Observe(now.duration().Seconds())
	}
}

func (m *Metrics) leads() bool {
	select {
	case <-m.elected:
		return true
	default:
		return false
	}
}

// Describe is for prometheus.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.objects
	m.finished.Describe(out)
	m.durations.Describe(out)
	m.latencies.Describe(out)
	m.waits.Describe(out)
}

// Collect is for prometheus. A manager that doesn't lead has no metrics.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	if !m.leads() {
		return
	}
	m.finished.Collect(out)
	m.durations.Collect(out)
	m.latencies.Collect(out)
	m.waits.Collect(out)
	m.mu.Lock()
	defer m.mu.Unlock()
	for kind, objects := range m.states {
		counts := map[state]int{waiting: 0, active: 0, finished: 0}
		for _, s := range objects {
			counts[s]++
		}
		for s, n := range counts {
			out <- prometheus.MustNewConstMetric(m.objects, prometheus.GaugeValue, float64(n), kind, string(s))
		}
	}
}
