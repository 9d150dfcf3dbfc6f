package uiserver

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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func nobody() any { return nil }

func TestFeedShowsTheOthersOnceThereIsRoom(t *testing.T) {
	configMap := func(i int) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("c-%02d", i)}}
	}
	server := newAPI(t, configMap(0), configMap(1), configMap(2))
	source := source{gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap"), namespace: "default"}
	f := newFeed(server.cluster().Client, nobody, source, func(u *unstructured.Unstructured) string { return u.GetName() })
	f.room = 3
	go f.run(t.Context())
	shows := func(state string, names ...string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			f.mu.Lock()
			defer f.mu.Unlock()
			var have []string
			for _, item := range f.items {
				have = append(have, item.value)
			}
			assert.ElementsMatch(c, names, have)
			assert.Equal(c, state, f.state.State)
		}, time.Minute, time.Millisecond)
	}
	shows(stateLive, "c-00", "c-01", "c-02")

	require.NoError(t, server.Client().Create(t.Context(), configMap(3)))
	shows(stateLimited, "c-00", "c-01", "c-02")

	require.NoError(t, server.Client().Delete(t.Context(), configMap(1)))
	shows(stateLive, "c-00", "c-02", "c-03")
}

// A watch whose viewer has lost the right to it goes on until it ends: the API server is asked to end it within minutes.
func TestAWatchAsksForItsEnd(t *testing.T) {
	asked := make(chan *metav1.ListOptions, 1)
	c := interceptor.NewClient(newAPI(t).cluster().Client, interceptor.Funcs{
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			asked <- (&client.ListOptions{}).ApplyOptions(opts).AsListOptions()
			return c.Watch(ctx, list, opts...)
		},
	})
	f := newFeed(c, nobody, source{gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap")}, (*unstructured.Unstructured).GetName)
	go f.run(t.Context())
	seconds := ptr.Deref((<-asked).TimeoutSeconds, 0)
	assert.GreaterOrEqual(t, seconds, int64(300))
	assert.Less(t, seconds, int64(600))
}

// A list can be large: where its result is of no use, because its pages or its version expire, or the watch after it is refused, the next
// one waits.
func TestAListIsNotRepeatedWithoutAPause(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old resource version")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil)
	for name, errs := range map[string]struct{ list, watch error }{
		"expired page":    {list: expired},
		"expired version": {watch: expired},
		"no right":        {watch: forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				lists := 0
				c := interceptor.NewClient(newAPI(t).Client(), interceptor.Funcs{
					List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
						if lists++; lists == 1000 {
							cancel()
						}
						list.SetResourceVersion("7")
						return errs.list
					},
					Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
						return nil, errs.watch
					},
				})
				from := source{gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap")}
				newFeed(c, func() any { return t.Name() }, from, (*unstructured.Unstructured).GetName).run(ctx)
				assert.Greater(t, lists, 2)
				assert.Less(t, lists, 40, "in a minute")
			})
		})
	}
}

// The kubelet of each node writes its status every few seconds. A map of nodes isn't computed again for that.
func TestAHeartbeatWakesNoReader(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	api := newAPI(t, node)
	wake := make(chan struct{}, 1)
	h := newHub(t.Context(), api.cluster().Client, nobody, time.Minute)
	r := read(h, source{gvk: corev1.SchemeGroupVersion.WithKind("Node")}, "placement", clusterNodeOf, wake)
	require.Eventually(t, func() bool { return r.take().synced && api.requests("watch Node") > 0 }, time.Minute, time.Millisecond)
	<-wake
	arrived := func() bool {
		r.feed.mu.Lock()
		defer r.feed.mu.Unlock()
		return r.feed.items[node.UID].version == node.ResourceVersion
	}
	require.NoError(t, api.Client().Get(t.Context(), client.ObjectKeyFromObject(node), node))
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}
	require.NoError(t, api.Client().Status().Update(t.Context(), node))
	require.Eventually(t, arrived, time.Minute, time.Millisecond)
	assert.Empty(t, wake)
	assert.Empty(t, r.take().set)

	node.Spec.Unschedulable = true
	require.NoError(t, api.Client().Update(t.Context(), node))
	require.Eventually(t, arrived, time.Minute, time.Millisecond)
	assert.Len(t, wake, 1)
	assert.Len(t, r.take().set, 1)
}

// Reading one object again is a small request, but one can be large: a drawer that is closed leaves nothing.
func TestAnObjectIsForgottenWithItsDrawer(t *testing.T) {
	h := newHub(t.Context(), newAPI(t).cluster().Client, nobody, time.Hour)
	from := source{gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap"), namespace: "default"}
	wake := make(chan struct{}, 1)
	all := read(h, from, "whole", whole, wake)
	from.fields = "metadata.name=c"
	one, other := read(h, from, "whole", whole, wake), read(h, from, "whole", whole, wake)
	all.close()
	one.close()
	assert.Len(t, h.feeds, 2, "another drawer is open, and a list stays for a while")
	other.close()
	assert.Len(t, h.feeds, 1)
}
