package connect

import (
	"context"

	"k8s.io/client-go/rest"
)

type warningsKey struct{}

// WithWarnings returns a context whose requests tell a function what the API server warns of. It may be called by several goroutines.
func WithWarnings(ctx context.Context, tell func(text string)) context.Context {
	return context.WithValue(ctx, warningsKey{}, tell)
}

// warnings tells who wants to know. Other warnings, about kinds that the user hasn't asked for, are dropped.
type warnings struct{}

var _ rest.WarningHandlerWithContext = warnings{}

// warningCode is the only code that Kubernetes uses.
const warningCode = 299

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if tell, ok := ctx.Value(warningsKey{}).(func(string)); ok && code == warningCode {
		tell(text)
	}
}
