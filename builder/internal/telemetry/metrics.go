package telemetry

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

	"github.com/armature-dev/armature/store"
)

var (
	operationsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "armature_builder_operations_total",
		Help: "Write requests, except those of a status or a scale, by operation (create, apply, delete, claim, patch) and result " +
			"(success, conflict, already_exists, invalid, forbidden, not_found, error).",
	}, []string{"controller", "kind", "operation", "result"})

	applyDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "armature_builder_apply_duration_seconds",
		Help:    "How long the API server took to create or apply one child.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"controller", "kind"})

	driftCorrectedTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "armature_builder_drift_corrected_total",
		Help: "Children that another writer had changed and that the builder restored.",
	}, []string{"controller", "kind"})

	objectsWaiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "armature_builder_objects_waiting",
		Help: "Objects whose deletion owners wait for, as of each owner's last pass.",
	}, []string{"controller"})

	objectsContested = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "armature_builder_objects_contested",
		Help: "Children that another writer changes repeatedly, of all owners, as of each owner's last pass.",
	}, []string{"controller"})

	rolloutOwners = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "armature_builder_rollout_owners",
		Help: "Owners in the roll-out of a new build, as of each owner's last pass, by state: waiting for their turn, in_turn, " +
			"halted (in their turn, failed or not ready in time, until a user resumes or aborts the roll-out).",
	}, []string{"controller", "state"})
)

func init() {
	metrics.Registry.MustRegister(operationsTotal, applyDuration, driftCorrectedTotal, objectsWaiting, objectsContested, rolloutOwners)
}

// Client is a client that counts, times and traces its writes.
type Client struct {
	client.Client
	Controller string
	Tracer     *Tracer
}

// Create creates an object.
func (c Client) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.report(ctx, "create", obj, func(ctx context.Context) error { return c.Client.Create(ctx, obj, opts...) })
}

// Patch changes an object.
func (c Client) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	operation := "patch"
	switch patch.Type() {
	case types.ApplyPatchType:
		operation = "apply"
	case types.JSONPatchType:
		operation = "claim"
	}
	return c.report(ctx, operation, obj, func(ctx context.Context) error { return c.Client.Patch(ctx, obj, patch, opts...) })
}

// Delete deletes an object.
func (c Client) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.report(ctx, "delete", obj, func(ctx context.Context) error { return c.Client.Delete(ctx, obj, opts...) })
}

func (c Client) report(ctx context.Context, operation string, obj client.Object, do func(context.Context) error) error {
	kind := ""
	if gvk, err := apiutil.GVKForObject(obj, c.Scheme()); err == nil {
		kind = gvk.GroupKind().String()
	}
	ctx, end := c.Tracer.Write(ctx, operation, store.Key{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()})
	start := time.Now()
	err := do(ctx)
	if operation == "create" || operation == "apply" {
		applyDuration.WithLabelValues(c.Controller, kind).Observe(time.Since(start).Seconds())
	}
	operationsTotal.WithLabelValues(c.Controller, kind, operation, resultOf(err)).Inc()
	end(err)
	return err
}

// resultOf returns the class of an error: the values of a label are a fixed list.
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

// CountDrift counts a child of a kind that another writer had changed and the builder restored.
func CountDrift(controller, kind string) { driftCorrectedTotal.WithLabelValues(controller, kind).Inc() }

// NewWaiting returns the sum of the objects that a controller's owners wait for.
func NewWaiting(controller string) *Sum { return newSum(objectsWaiting.WithLabelValues(controller)) }

// NewContested returns the sum of a controller's contested children.
func NewContested(controller string) *Sum {
	return newSum(objectsContested.WithLabelValues(controller))
}
