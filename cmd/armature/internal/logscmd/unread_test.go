package logscmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// widgets is the discovery of a cluster in which an operator that Armature doesn't know may create Parts, and those pods. The group
// other.com can't be discovered while it is unavailable.
type widgets struct {
	discovery.DiscoveryInterface
	unavailable atomic.Bool
	isStale     bool // until it is asked again
}

func (w *widgets) Fresh() bool { return true }

func (w *widgets) Invalidate() { w.isStale = w.unavailable.Load() }

func (w *widgets) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	listed := func(kind string) []metav1.APIResource {
		return []metav1.APIResource{{Kind: kind, Namespaced: true, Verbs: []string{"get", "list"}}}
	}
	lists := []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: listed("Pod")}, {GroupVersion: "example.com/v1", APIResources: listed("Part")},
	}
	if w.isStale {
		return lists, &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
			{Group: "other.com", Version: "v1"}: errors.New("stale GroupVersion discovery"),
		}}
	}
	return append(lists, &metav1.APIResourceList{GroupVersion: "other.com/v1", APIResources: listed("Part")}), nil
}

// sourceOf returns a Widget with one pod and what the command says on standard error. A list of Parts has the errors of listParts, and one
// of the Parts of the group other.com those of listOthers.
func sourceOf(t *testing.T, listParts, listOthers func() error) (*source, *bytes.Buffer) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "2"}}
	pod.OwnerReferences = []metav1.OwnerReference{{UID: "1"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{},
	}}}
	root := &unstructured.Unstructured{}
	root.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	root.SetNamespace("ns")
	root.SetName("w")
	root.SetUID("1")
	c := interceptor.NewClient(fake.NewClientBuilder().WithObjects(pod).Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if gvk := list.GetObjectKind().GroupVersionKind(); gvk.Kind == "PartList" {
				if gvk.Group == "example.com" {
					return listParts()
				}
				return listOthers()
			}
			return c.List(ctx, list, opts...)
		},
		Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
			return watch.NewRaceFreeFake(), nil
		},
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			root.DeepCopyInto(obj.(*unstructured.Unstructured))
			return nil
		},
	})
	var errs bytes.Buffer
	return &source{
		options: options{most: 1, tail: -1}, cluster: &connect.Cluster{Client: c, Discovery: &widgets{}}, root: root, errs: &errs,
	}, &errs
}

// A kind that can't be listed for a moment may be an owner of pods. Kinds that there aren't, or that the user may not list, aren't named.
func TestKindsThatCanNotBeListedAreNamed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "2026-01-02T03:04:05Z one\n")
	}))
	t.Cleanup(server.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	const missing = "; logs of pods below such objects may be missing\n"
	parts := schema.GroupResource{Group: "example.com", Resource: "parts"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{apierrors.NewForbidden(parts, "", nil), ""},
		{apierrors.NewNotFound(parts, ""), ""},
		{fmt.Errorf("map: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: parts.Group, Kind: "Part"}}), ""},
		{apierrors.NewTooManyRequests("too many", 1), "list Part.example.com: too many" + missing},
		{apierrors.NewInternalError(errors.New("etcd")), "list Part.example.com: Internal error occurred: etcd" + missing},
		{context.DeadlineExceeded, "list Part.example.com: context deadline exceeded" + missing},
	} {
		s, errs := sourceOf(t, func() error { return c.err }, func() error { return nil })
		s.pods = clients.CoreV1().Pods("ns")
		var out bytes.Buffer
		require.NoError(t, s.printStarted(t.Context(), &printer{out: &out}))
		assert.Equal(t, "a | one\n", out.String())
		assert.Equal(t, c.want, errs.String())
	}
}

// Without a change in the namespace, too, --follow finds what an error has hidden.
func TestFollowListsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		lists := 0
		s, errs := sourceOf(t, func() error {
			if lists++; lists == 3 {
				cancel(assert.AnError)
			}
			return fmt.Errorf("read tcp port %d: %w", lists, context.DeadlineExceeded)
		}, func() error { return apierrors.NewTooManyRequests("too many", 1) })
		s.part = "none"
		require.ErrorIs(t, s.followAll(ctx, &printer{}), assert.AnError)
		assert.Contains(t, errs.String(), "list Part.example.com: read tcp port 1: ")
		assert.Contains(t, errs.String(), "list Part.other.com: too many;")
		assert.Equal(t, 2, strings.Count(errs.String(), "\n"), "a kind is named once: %s", errs)
	})
}

// A group whose kinds aren't known may have owners of pods. With --follow they are found when it is available again.
func TestAGroupThatCanNotBeDiscoveredIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s, errs := sourceOf(t, func() error { return nil }, func() error {
			cancel(assert.AnError)
			return nil
		})
		kinds := &widgets{isStale: true}
		kinds.unavailable.Store(true)
		s.cluster.Discovery, s.part = kinds, "none"
		time.AfterFunc(listAgain+time.Second, func() { kinds.unavailable.Store(false) })
		require.ErrorIs(t, s.followAll(ctx, &printer{}), assert.AnError)
		assert.Equal(t, "discover the kinds of other.com/v1: stale GroupVersion discovery; logs of pods below such objects may be missing\n",
			errs.String())
	})
}
