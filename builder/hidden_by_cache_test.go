package builder

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// neverShown is a client with read-your-writes consistency on a cache whose filter hides each object that the client writes.
type neverShown struct{ client.Client }

func (c neverShown) Get(ctx context.Context, key types.NamespacedName, obj client.Object, opts ...client.GetOption) error {
	if !(&client.GetOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency {
		<-ctx.Done()
		return ctx.Err()
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

// A child that a filter of the cache hides doesn't block a pass, which has no deadline.
func TestAHiddenChildDoesNotBlockAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEngine(neverShown{fake.NewClientBuilder().WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)).Build()}, Options{})
		res, err := e.For(owner()).ConfigMap(config("a")).Reconcile(t.Context())
		require.NoError(t, err)
		assert.Len(t, res.Changes, 1)
	})
}
