package telemetry

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/armature-dev/armature/store"
)

// tracerName is the instrumentation scope of the spans.
const tracerName = "github.com/armature-dev/armature/builder"

// unset is OpenTelemetry's global provider before a program sets another one.
var unset = otel.GetTracerProvider()

// Tracer makes spans of passes and of the writes in them, with OpenTelemetry's global provider. While the program hasn't set one, it
// makes no spans: those of the default provider go nowhere, and would cost allocations in each pass.
type Tracer struct {
	Controller string
	// Summary returns an error as one sentence of limited length.
	Summary func(error) string
}

// IsOn reports whether the program has set a provider.
func (t *Tracer) IsOn() bool { return otel.GetTracerProvider() != unset }

// Pass starts the span of a pass over an owner, an empty key if it isn't known. The returned function ends the span.
func (t *Tracer) Pass(ctx context.Context, owner store.Key) (context.Context, func(error)) {
	return t.start(ctx, "armature pass", "armature.owner", owner)
}

// Write starts the span of one request. The returned function ends it.
func (t *Tracer) Write(ctx context.Context, operation string, object store.Key) (context.Context, func(error)) {
	return t.start(ctx, "armature "+operation, "armature.object", object)
}

func (t *Tracer) start(ctx context.Context, name, attributeOf string, key store.Key) (context.Context, func(error)) {
	if !t.IsOn() {
		return ctx, noSpan
	}
	attributes := []attribute.KeyValue{attribute.String("armature.controller", t.Controller)}
	if key != (store.Key{}) {
		attributes = append(attributes, attribute.String(attributeOf, key.String()))
	}
	ctx, span := otel.Tracer(tracerName).Start(ctx, name, trace.WithAttributes(attributes...))
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
