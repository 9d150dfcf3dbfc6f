package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/armature-dev/armature/store"
)

// tracerName is the instrumentation scope of the spans.
const tracerName = "github.com/armature-dev/armature/builder"

// Tracer makes spans of passes and of the writes in them. Without a provider it makes none.
type Tracer struct {
	Controller string
	// Summary returns an error as one sentence of limited length.
	Summary func(error) string

	tracer trace.Tracer // nil: no spans
}

// Use sets the provider of spans; nil for none. It must not be called after the first pass.
func (t *Tracer) Use(provider trace.TracerProvider) {
	t.tracer = nil
	if provider != nil {
		t.tracer = provider.Tracer(tracerName)
	}
}

// IsOn reports whether there is a provider.
func (t *Tracer) IsOn() bool { return t.tracer != nil }

// Pass starts the span of a pass over an owner, an empty key if it isn't known. The returned function ends the span.
func (t *Tracer) Pass(ctx context.Context, owner store.Key) (context.Context, func(error)) {
	return t.start(ctx, "armature pass", "armature.owner", owner)
}

// Write starts the span of one request. The returned function ends it.
func (t *Tracer) Write(ctx context.Context, operation string, object store.Key) (context.Context, func(error)) {
	return t.start(ctx, "armature "+operation, "armature.object", object)
}

func (t *Tracer) start(ctx context.Context, name, attributeOf string, key store.Key) (context.Context, func(error)) {
	if t.tracer == nil {
		return ctx, noSpan
	}
	attributes := []attribute.KeyValue{attribute.String("armature.controller", t.Controller)}
	if key != (store.Key{}) {
		attributes = append(attributes, attribute.String(attributeOf, key.String()))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, t.Summary(err))
		}
		span.End()
	}
}

// noSpan ends no span.
func noSpan(error) {}
