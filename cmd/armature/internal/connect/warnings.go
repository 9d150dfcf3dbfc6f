package connect

import (
	"context"

	"k8s.io/client-go/rest"
)

type warningsKey struct{}

// WithWarnings returns a context whose requests pass the warnings of the API server to a function. Several goroutines may call it.
func WithWarnings(ctx context.Context, report func(text string)) context.Context {
	return context.WithValue(ctx, warningsKey{}, report)
}

// warnings passes a warning to the function of the request's context. Without one, it drops the warning.
type warnings struct{}

var _ rest.WarningHandlerWithContext = warnings{}

// warningCode is the only code that Kubernetes uses.
const warningCode = 299

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if report, ok := ctx.Value(warningsKey{}).(func(string)); ok && code == warningCode {
		report(text)
	}
}
