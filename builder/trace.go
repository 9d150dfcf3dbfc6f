package builder

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// tracerName says where spans come from.
const tracerName = "github.com/armature-dev/armature/builder"

func tracerOf(provider trace.TracerProvider) trace.Tracer {
	if provider == nil {
		return nil
	}
	return provider.Tracer(tracerName)
}

// notTraced ends no span.
func notTraced(error) {}

// tracePass starts a span of a pass over an owner. The returned function ends it.
func (e *Engine) tracePass(ctx context.Context, owner client.Object) (context.Context, func(error)) {
	if e.tracer == nil || isNil(owner) {
		return ctx, notTraced
	}
	attributes := []attribute.KeyValue{attribute.String("armature.controller", e.name)}
	if k, err := e.kinds.of(owner); err == nil {
		attributes = append(attributes, attribute.String("armature.owner", k.key(owner).String()))
	}
	return e.startSpan(ctx, "armature pass", attributes)
}

// traceWrite starts a span of one request.
func (e *Engine) traceWrite(ctx context.Context, operation, kind string, obj client.Object) (context.Context, func(error)) {
	if e.tracer == nil {
		return ctx, notTraced
	}
	key := store.Key{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	return e.startSpan(ctx, "armature "+operation, []attribute.KeyValue{
		attribute.String("armature.controller", e.name),
		attribute.String("armature.object", key.String()),
	})
}

func (e *Engine) startSpan(ctx context.Context, name string, attributes []attribute.KeyValue) (context.Context, func(error)) {
	ctx, span := e.tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, summarize(err))
		}
		span.End()
	}
}

// Trace makes spans: one a pass, and in it one a write. Nil makes none, and is the default.
func (o *Operator[T]) Trace(provider trace.TracerProvider) *Operator[T] {
	if o.engine != nil {
		o.engine.tracer = tracerOf(provider)
	}
	return o
}
