package builder_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// An Engine on any client. In a program it is a manager's: see EngineFor.
func ExampleNewEngine() {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog", UID: "1"}}
	c := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(owner)).Client()
	engine := builder.NewEngine(c, builder.Options{Name: "website"})
	say(engine.For(owner).ConfigMap(settings(nil)).Reconcile(context.Background()))
	// Output: Created ConfigMap default/settings
}

// websites is a reconciler that does more than a plan can say.
type websites struct {
	client client.Client
	engine *builder.Engine
}

func (r *websites) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	site := &corev1.ConfigMap{}
	if err := r.client.Get(ctx, req.NamespacedName, site); err != nil {
		r.engine.Forget(site, req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	res, err := r.engine.For(site).
		Deployment(server(site)).
		Prune(&appsv1.Deployment{}).
		Reconcile(ctx)
	return reconcile.Result{RequeueAfter: res.RequeueAfter}, err
}

// One Engine for each controller. The index lets a pass look at the owner's children only.
func ExampleEngineFor() {
	setUp := func(ctx context.Context, mgr manager.Manager) (reconcile.Reconciler, error) {
		engine := builder.EngineFor(mgr, "website")
		err := engine.Index(ctx, mgr.GetFieldIndexer(), &appsv1.Deployment{})
		return &websites{client: mgr.GetClient(), engine: engine}, err
	}
	_ = setUp
}

// Children are found by an index on their controller; those CrossNamespace by another.
func ExampleEngine_Index() {
	c, ctx := newCluster(), context.Background()
	fmt.Println(c.engine.Index(ctx, c, &corev1.ConfigMap{}))
	say(c.engine.For(c.owner).ConfigMap(settings(nil)).Reconcile(ctx))
	// Output:
	// <nil>
	// Created ConfigMap default/settings
}

// Spans are one a pass, and in it one a write; metrics are counted always, in the registry that a manager serves.
func ExampleOptions() {
	defer otel.SetTracerProvider(otel.GetTracerProvider())
	otel.SetTracerProvider(printer{}) // a program does this once, at its start
	c := newCluster()
	engine := builder.NewEngine(c, builder.Options{Name: "traced"})
	if _, err := engine.For(c.owner).ConfigMap(settings(nil)).Reconcile(context.Background()); err != nil {
		panic(err)
	}
	families, err := metrics.Registry.(prometheus.Gatherer).Gather()
	if err != nil {
		panic(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if text := m.String(); family.GetName() == "armature_builder_operations_total" && strings.Contains(text, "traced") {
				fmt.Println(family.GetName(), m.GetCounter().GetValue())
			}
		}
	}
	// Output:
	// span armature pass
	// span armature create
	// armature_builder_operations_total 1
}

// printer is a provider of tracers that print the names of their spans.
type printer struct{ embedded.TracerProvider }

func (printer) Tracer(string, ...trace.TracerOption) trace.Tracer { return printing{} }

type printing struct{ embedded.Tracer }

func (printing) Start(ctx context.Context, name string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	fmt.Println("span", name)
	return ctx, noop.Span{}
}
