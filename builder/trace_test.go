package builder

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// spans is a tracer that writes down what it is told.
type spans struct {
	embedded.Tracer
	mu   sync.Mutex
	told []string
}

// provider has one tracer.
type provider struct {
	embedded.TracerProvider
	tracer *spans
}

func (p provider) Tracer(string, ...trace.TracerOption) trace.Tracer { return p.tracer }

func (s *spans) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	started := trace.NewSpanStartConfig(opts...)
	for _, a := range started.Attributes() {
		name += " " + a.Value.AsString()
	}
	if parent, ok := trace.SpanFromContext(ctx).(*span); ok {
		name += " in " + parent.name
	}
	sp := &span{of: s, name: name}
	return trace.ContextWithSpan(ctx, sp), sp
}

type span struct {
	noop.Span
	of   *spans
	name string
	code codes.Code
}

func (s *span) SetStatus(code codes.Code, _ string) { s.code = code }

func (s *span) End(...trace.SpanEndOption) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.told = append(s.of.told, s.name+": "+s.code.String())
}

func TestSpans(t *testing.T) {
	base := engineWith(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
		if obj.GetName() == "bad" {
			return invalid
		}
		return c.Create(ctx, obj, opts...)
	}})
	traced := &spans{}
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(provider{tracer: traced})
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	e := newEngine(base.live.(client.Client), Options{Name: "c"}, nil, 1)
	_, err := e.For(owner()).ConfigMap(config("a")).ConfigMap(config("bad")).Reconcile(t.Context())
	require.Error(t, err)
	pass := "armature pass c ConfigMap default/owner"
	assert.Equal(t, []string{
		"armature create c ConfigMap default/a in " + pass + ": Unset",
		"armature create c ConfigMap default/bad in " + pass + ": Error",
		pass + ": Error",
	}, traced.told)
}

func TestNoSpansCostNothing(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	o := owner()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_, end := e.tracePass(t.Context(), o)
		end(nil)
	}))
}
