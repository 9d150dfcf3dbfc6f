package builder

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The metrics are in controller-runtime's registry, which a manager serves at /metrics; docs/metrics.md explains them.
// All of them are of writes and of what is waited for: a child that is as wanted costs none of them anything.
var (
	operationsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "armature_builder_operations_total",
		Help: "Writes of children, by operation (create, apply, delete, claim, patch) and result (success, conflict, already_exists, invalid, forbidden, not_found, error).",
	}, []string{"controller", "kind", "operation", "result"})

	applyDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "armature_builder_apply_duration_seconds",
		Help:    "How long the API server took to create or apply one child.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"controller", "kind"})

	driftCorrectedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "armature_builder_drift_corrected_total",
		Help: "Children that someone else had changed and that were put back.",
	}, []string{"controller", "kind"})

	objectsWaiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "armature_builder_objects_waiting",
		Help: "Children that are waited for, of all owners, as of each owner's last pass.",
	}, []string{"controller"})

	objectsContested = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "armature_builder_objects_contested",
		Help: "Children that another writer changes again and again, of all owners, as of each owner's last pass.",
	}, []string{"controller"})
)

func init() {
	metrics.Registry.MustRegister(operationsTotal, applyDuration, driftCorrectedTotal, objectsWaiting, objectsContested)
}

// observed is a client that counts, times and traces what is written.
type observed struct {
	client.Client
	engine *Engine
}

func (c observed) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.observe(ctx, "create", obj, func(ctx context.Context) error { return c.Client.Create(ctx, obj, opts...) })
}

func (c observed) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	operation := "patch"
	switch patch.Type() {
	case types.ApplyPatchType:
		operation = "apply"
	case types.JSONPatchType:
		operation = "claim"
	}
	return c.observe(ctx, operation, obj, func(ctx context.Context) error { return c.Client.Patch(ctx, obj, patch, opts...) })
}

func (c observed) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.observe(ctx, "delete", obj, func(ctx context.Context) error { return c.Client.Delete(ctx, obj, opts...) })
}

func (c observed) observe(ctx context.Context, operation string, obj client.Object, do func(context.Context) error) error {
	e := c.engine
	kind := ""
	if gvk, err := apiutil.GVKForObject(obj, c.Scheme()); err == nil {
		kind = gvk.GroupKind().String()
	}
	ctx, end := e.traceWrite(ctx, operation, kind, obj)
	start := time.Now()
	err := do(ctx)
	if operation == "create" || operation == "apply" {
		applyDuration.WithLabelValues(e.name, kind).Observe(time.Since(start).Seconds())
	}
	operationsTotal.WithLabelValues(e.name, kind, operation, resultOf(err)).Inc()
	end(err)
	return err
}

// resultOf sorts errors into few classes: a label's values are a fixed list.
func resultOf(err error) string {
	if err == nil {
		return "success"
	}
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonConflict:
		return "conflict"
	case metav1.StatusReasonAlreadyExists:
		return "already_exists"
	case metav1.StatusReasonInvalid:
		return "invalid"
	case metav1.StatusReasonForbidden:
		return "forbidden"
	case metav1.StatusReasonNotFound:
		return "not_found"
	default:
		return "error"
	}
}

// countDrift counts a child that was put back: it was changed though nothing else is wanted than before.
func (w *write) countDrift(e *Engine) {
	if w.did == OperationUpdated && !e.dry && w.drifted {
		driftCorrectedTotal.WithLabelValues(e.name, w.desired.key.GroupKind().String()).Inc()
	}
}
