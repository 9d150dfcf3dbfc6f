package sources

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// limited is a client whose reads with a deadline fail.
type limited struct {
	client.Client
	err func(context.Context) error
}

func (c limited) Get(ctx context.Context, _ types.NamespacedName, _ client.Object, _ ...client.GetOption) error {
	if _, has := ctx.Deadline(); has {
		return c.err(ctx)
	}
	return nil
}

// A client-side limiter refuses at once what it would only delay without a deadline.
func TestALimiterDelaysAReadAsWithoutABound(t *testing.T) {
	inner := limited{fake.NewClientBuilder().Build(), func(context.Context) error {
		return errors.New("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline")
	}}
	c := Bounded(inner, kinds.New(inner, time.Now))
	require.NoError(t, c.Get(t.Context(), types.NamespacedName{Name: "a"}, &corev1.ConfigMap{}))
}

// A read can also wait for a request of its own, or for another goroutine's write. Neither says that a filter hides the object.
func TestOnlyTheCacheHidesAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := limited{fake.NewClientBuilder().Build(), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		c := Bounded(inner, kinds.New(inner, time.Now))
		for range 2 {
			assert.Equal(t, maxWait, took(func() {
				require.NoError(t, c.Get(t.Context(), types.NamespacedName{Name: "a"}, &corev1.ConfigMap{}))
			}))
		}
	})
}
