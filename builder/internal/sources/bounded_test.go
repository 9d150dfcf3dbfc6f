package sources

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// filtering is a client with read-your-writes consistency on a cache with a label filter. A read waits for a hidden object that the client
// has written, as controller-runtime's client does: until the context ends.
type filtering struct {
	client.Client
	written map[types.NamespacedName]bool // hidden
}

func newFiltering() filtering {
	return filtering{fake.NewClientBuilder().Build(), map[types.NamespacedName]bool{}}
}

func (c filtering) await(ctx context.Context, written, disabled bool) error {
	if !written || disabled {
		return nil
	}
	<-ctx.Done()
	return fmt.Errorf("failed to wait for cache to catch up: %w", ctx.Err())
}

func (c filtering) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if !(&client.CreateOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency && obj.GetLabels()["shown"] == "" {
		c.written[client.ObjectKeyFromObject(obj)] = true
	}
	return c.Client.Create(ctx, obj, opts...)
}

func (c filtering) Get(ctx context.Context, key types.NamespacedName, obj client.Object, opts ...client.GetOption) error {
	if err := c.await(ctx, c.written[key], (&client.GetOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency); err != nil {
		return err
	}
	err := c.Client.Get(ctx, key, obj)
	if err == nil && obj.GetLabels()["shown"] == "" {
		return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
	}
	return err
}

func (c filtering) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.await(ctx, len(c.written) > 0, (&client.ListOptions{}).ApplyOptions(opts).DisableReadYourWritesConsistency); err != nil {
		return err
	}
	return c.Client.List(ctx, list, client.HasLabels{"shown"})
}

// took returns the time of a call.
func took(call func()) time.Duration {
	start := time.Now()
	call()
	return time.Since(start)
}

// An object that a filter of the cache hides delays one read of it, and one list of its kind.
func TestAHiddenObjectDelaysOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := newFiltering()
		c := Bounded(inner, kinds.New(inner, time.Now))
		hidden := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hidden"}}
		get := func() error {
			return c.Get(t.Context(), client.ObjectKeyFromObject(hidden), &corev1.ConfigMap{}, client.UnsafeDisableDeepCopy)
		}
		list := func() {
			var all corev1.ConfigMapList
			require.NoError(t, c.List(t.Context(), &all))
		}
		require.True(t, apierrors.IsNotFound(get()))
		require.NoError(t, c.Create(t.Context(), hidden.DeepCopy()))

		assert.Equal(t, maxWait, took(list))
		assert.Zero(t, took(list))
		assert.Equal(t, shortWait, took(func() { require.True(t, apierrors.IsNotFound(get())) }), "the cache has had its time")
		assert.Zero(t, took(func() { require.True(t, apierrors.IsNotFound(get())) }))

		clear(inner.written) // as the cache sees a later object of the kind
		require.NoError(t, inner.Delete(t.Context(), hidden.DeepCopy()))
		require.NoError(t, c.Create(t.Context(), hidden.DeepCopy()))
		assert.Zero(t, took(list), "no read waits for further writes of the hidden object")
		shown := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shown", Labels: map[string]string{"shown": "x"}}}
		require.NoError(t, c.Create(t.Context(), shown))
		inner.written[types.NamespacedName{Namespace: "default", Name: "another"}] = true
		assert.Equal(t, maxWait, took(list), "a list waits for the writes of other objects")

		labelled := hidden.DeepCopy()
		labelled.Labels = shown.Labels
		require.NoError(t, inner.Update(t.Context(), labelled))
		require.NoError(t, get())
		require.NoError(t, inner.Delete(t.Context(), labelled))
		require.NoError(t, c.Create(t.Context(), hidden.DeepCopy()))
		assert.Equal(t, maxWait, took(func() { require.True(t, apierrors.IsNotFound(get())) }), "the object was shown in between")
		assert.Zero(t, took(list), "as the list would wait for the same object")
	})
}

// A pass that ends waits no longer.
func TestAReadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := newFiltering()
		c := Bounded(inner, kinds.New(inner, time.Now))
		hidden := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hidden"}}
		require.NoError(t, c.Create(t.Context(), hidden.DeepCopy()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Equal(t, time.Second, took(func() {
			require.ErrorIs(t, c.Get(ctx, client.ObjectKeyFromObject(hidden), &corev1.ConfigMap{}), context.DeadlineExceeded)
		}))
		assert.Equal(t, maxWait, took(func() {
			require.True(t, apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(hidden), &corev1.ConfigMap{})))
		}))
	})
}
