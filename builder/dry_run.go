package builder

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/telemetry"
)

// dryRun returns an engine whose writes are dry runs: the API server admits, defaults and validates them, and stores nothing. The
// engine emits no events, counts no metrics and remembers nothing.
func (e *Engine) dryRun() *Engine {
	dry := *e
	dry.dry = true
	dry.recorder = nil
	inner := e.client
	if counting, ok := inner.(telemetry.Client); ok {
		inner = counting.Client
	}
	dry.client = client.NewDryRunClient(unawaited{inner})
	return &dry
}

// unawaited is a client without read-your-writes waits, because no cache ever shows a dry run's writes.
type unawaited struct{ client.Client }

func (c unawaited) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.Client.Create(ctx, obj, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (c unawaited) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.Client.Patch(ctx, obj, patch, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (c unawaited) SubResource(name string) client.SubResourceClient {
	return unawaitedSubResource{c.Client.SubResource(name)}
}

type unawaitedSubResource struct{ client.SubResourceClient }

func (c unawaitedSubResource) Patch(
	ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
) error {
	return c.SubResourceClient.Patch(ctx, obj, patch, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (c unawaited) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.Client.Delete(ctx, obj, append(opts, client.DisableReadYourWritesConsistency)...)
}
