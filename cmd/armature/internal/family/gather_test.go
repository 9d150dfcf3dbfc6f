package family

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// rootOf returns an object to start from, and a client that calls back before each list.
func rootOf(kind string, before func(list client.ObjectList) error, objects ...client.Object) (*unstructured.Unstructured, client.Client) {
	root := &unstructured.Unstructured{}
	root.SetGroupVersionKind(schema.GroupVersionKind{Group: ours(kind).Group, Version: "v1alpha1", Kind: kind})
	root.SetNamespace("team")
	root.SetName("it")
	root.SetUID("1")
	var versions []schema.GroupVersion
	for _, gk := range below[ours(kind)] {
		versions = append(versions, gk.WithVersion("v1").GroupVersion())
	}
	scheme, mapper := runtime.NewScheme(), meta.NewDefaultRESTMapper(versions)
	for _, gk := range below[ours(kind)] {
		gvk := gk.WithVersion("v1")
		mapper.Add(gvk, meta.RESTScopeNamespace)
		scheme.AddKnownTypeWithName(gvk, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(gvk.GroupVersion().WithKind(gk.Kind+"List"), &unstructured.UnstructuredList{})
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(objects...).Build()
	return root, interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := before(list); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
	})
}

func kindOf(list client.ObjectList) string { return list.GetObjectKind().GroupVersionKind().Kind }

// TestWithoutSecrets: who may not list Secrets learns why a MiniCluster doesn't run.
func TestWithoutSecrets(t *testing.T) {
	root, c := rootOf("MiniCluster", func(list client.ObjectList) error {
		if kindOf(list) == "SecretList" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", nil)
		}
		return nil
	})
	found, err := Source{Client: c}.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Empty(t, found.Unread)

	found, err = Source{Client: c, Stateless: true}.Gather(t.Context(), root)
	require.NoError(t, err)
	require.Len(t, found.Unread, 1)
	assert.ErrorContains(t, found.Unread[0], "list Secret: ")
}

// TestContentsOfSecretsStayThere: of a Secret only the metadata is transferred.
func TestContentsOfSecretsStayThere(t *testing.T) {
	secret := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"key": "c2VjcmV0"}}}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	secret.SetNamespace("team")
	secret.SetName("curve")
	secret.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "api.practice.com/v1alpha1", Kind: "MiniCluster", Name: "it", UID: "1"}})
	var lists atomic.Int32 // Gather lists kinds at the same time
	root, c := rootOf("MiniCluster", func(list client.ObjectList) error {
		lists.Add(1)
		if _, metadata := list.(*metav1.PartialObjectMetadataList); !metadata && (kindOf(list) == "SecretList" || kindOf(list) == "ConfigMapList") {
			t.Errorf("%s was listed in full", kindOf(list))
		}
		return nil
	}, secret)
	found, err := Source{Client: c, Stateless: true}.Gather(t.Context(), root)
	require.NoError(t, err)
	require.EqualValues(t, len(below[ours("MiniCluster")]), lists.Load())
	require.Len(t, found.Root.Owned, 1)
	assert.Equal(t, "curve", found.Root.Owned[0].GetName())
	assert.Equal(t, corev1.SchemeGroupVersion.WithKind("Secret"), found.Root.Owned[0].GroupVersionKind())
	assert.NotContains(t, found.Root.Owned[0].Object, "data")
}

// TestPodGroupsOfAGangOnly: a ReplicaJob without gang scheduling has none.
func TestPodGroupsOfAGangOnly(t *testing.T) {
	var groups atomic.Int32
	root, c := rootOf("ReplicaJob", func(list client.ObjectList) error {
		if kindOf(list) == "PodGroupList" {
			groups.Add(1)
		}
		return nil
	})
	_, err := Source{Client: c}.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Zero(t, groups.Load())

	require.NoError(t, unstructured.SetNestedMap(root.Object, map[string]any{}, "spec", "runPolicy", "schedulingPolicy"))
	_, err = Source{Client: c}.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.EqualValues(t, 3, groups.Load())
}

// discovered are the kinds of a cluster.
type discovered struct {
	discovery.ServerResourcesInterface
	asked  atomic.Int32
	lists  []*metav1.APIResourceList
	failed map[schema.GroupVersion]error
}

func (d *discovered) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	d.asked.Add(1)
	if len(d.failed) > 0 {
		return d.lists, &discovery.ErrGroupDiscoveryFailed{Groups: d.failed}
	}
	return d.lists, nil
}

// TestAPodGroupOwnsNothing: the pod group of a gang, which has an owner, isn't a reason to read all kinds.
func TestAPodGroupOwnsNothing(t *testing.T) {
	for _, group := range []string{"scheduling.volcano.sh", "scheduling.x-k8s.io", "scheduling.k8s.io"} {
		pods := &unstructured.Unstructured{}
		pods.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "PodGroup"})
		pods.SetNamespace("team")
		pods.SetName("it")
		pods.SetUID("2")
		pods.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "api.practice.com/v1alpha1", Kind: "ReplicaJob", Name: "it", UID: "1"}})
		root, c := rootOf("ReplicaJob", func(client.ObjectList) error { return nil }, pods)
		require.NoError(t, unstructured.SetNestedMap(root.Object, map[string]any{}, "spec", "runPolicy", "schedulingPolicy"))
		kinds := &discovered{}
		found, err := Source{Client: c, Discovery: kinds}.Gather(t.Context(), root)
		require.NoError(t, err)
		assert.Len(t, found.Root.Owned, 1, group)
		assert.Zero(t, kinds.asked.Load(), group)
	}
}

// storeOf returns a KVStore, an object of an unknown operator, and where its family is. All kinds of the cluster are read for it.
func storeOf(before func(list client.ObjectList) error) (*unstructured.Unstructured, Source) {
	resource := func(kind string) metav1.APIResource {
		return metav1.APIResource{Kind: kind, Namespaced: true, Verbs: []string{"get", "list"}}
	}
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	for _, kind := range []string{"KVStore", "Broken"} {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind}, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind + "List"}, &unstructured.UnstructuredList{})
	}
	root := &unstructured.Unstructured{}
	root.SetAPIVersion("example.com/v1")
	root.SetKind("KVStore")
	root.SetNamespace("team")
	root.SetName("orders")
	root.SetUID("1")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "orders-0", UID: "2", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: "example.com/v1", Kind: "KVStore", Name: "orders", UID: "1",
	}}}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(pod).Build()
	return root, Source{
		Client: interceptor.NewClient(c, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if err := before(list); err != nil {
					return err
				}
				return c.List(ctx, list, opts...)
			},
		}),
		Discovery: &discovered{lists: []*metav1.APIResourceList{
			{GroupVersion: "v1", APIResources: []metav1.APIResource{resource("Pod"), resource("PersistentVolumeClaim"), resource("PodTemplate")}},
			{GroupVersion: "coordination.k8s.io/v1", APIResources: []metav1.APIResource{resource("Lease")}},
			{GroupVersion: "rbac.authorization.k8s.io/v1", APIResources: []metav1.APIResource{resource("Role"), resource("RoleBinding")}},
			{GroupVersion: "example.com/v1", APIResources: []metav1.APIResource{resource("KVStore"), resource("Broken")}},
		}},
	}
}

// TestABrokenKindHidesNoOther: a CRD whose conversion webhook is down is none of this object's matters.
func TestABrokenKindHidesNoOther(t *testing.T) {
	broken := apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1, Kind=Broken failed"))
	root, source := storeOf(func(list client.ObjectList) error {
		if kindOf(list) == "BrokenList" {
			return broken
		}
		return nil
	})
	found, err := source.Gather(t.Context(), root)
	require.NoError(t, err)
	require.Len(t, found.Root.Owned, 1)
	assert.Equal(t, "orders-0", found.Root.Owned[0].GetName())
	require.Len(t, found.Unread, 1)
	assert.ErrorContains(t, found.Unread[0], "list Broken.example.com: ")

	root, source = storeOf(func(client.ObjectList) error { return broken })
	_, err = source.Gather(t.Context(), root)
	require.ErrorIs(t, err, broken, "no kind can be listed")

	ctx, cancel := context.WithCancel(t.Context())
	root, source = storeOf(func(list client.ObjectList) error {
		if kindOf(list) == "BrokenList" {
			cancel()
			return ctx.Err()
		}
		return nil
	})
	_, err = source.Gather(ctx, root)
	require.ErrorIs(t, err, context.Canceled)
}

// TestAGroupThatCanNotBeDiscovered: its kinds may be owners. Those of Kubernetes of which none has a family, such as metrics, aren't.
func TestAGroupThatCanNotBeDiscovered(t *testing.T) {
	root, source := storeOf(func(client.ObjectList) error { return nil })
	kinds := source.Discovery.(*discovered)
	stale := errors.New("stale GroupVersion discovery")
	kinds.failed = map[schema.GroupVersion]error{
		{Group: "parts.com", Version: "v2"}:            stale,
		{Group: "parts.com", Version: "v1"}:            stale,
		{Group: "batch", Version: "v1"}:                stale,
		{Group: "metrics.k8s.io", Version: "v1beta1"}:  stale,
		{Group: "scheduling.k8s.io", Version: "v1"}:    stale,
		{Group: "gone.com", Version: "v1"}:             apierrors.NewNotFound(schema.GroupResource{}, ""),
		{Group: "custom.metrics.k8s.io", Version: "1"}: stale,
	}
	found, err := source.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Len(t, found.Root.Owned, 1)
	var texts []string
	for _, err := range found.Unread {
		texts = append(texts, err.Error())
	}
	assert.Equal(t, []string{
		"discover the kinds of batch/v1: " + stale.Error(), "discover the kinds of parts.com/v1: " + stale.Error(),
		"discover the kinds of parts.com/v2: " + stale.Error(),
	}, texts)

	source.Stateless = true
	found, err = source.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Len(t, found.Unread, 6, "a tree shows all")
}

// TestAViewersRights: the roles view and edit of Kubernetes let no one list Leases, Roles and PodTemplates, in which no problem can be.
func TestAViewersRights(t *testing.T) {
	refused := map[string]bool{"LeaseList": true, "RoleList": true, "RoleBindingList": true, "PodTemplateList": true}
	forbid := func(list client.ObjectList) error {
		if refused[kindOf(list)] {
			return apierrors.NewForbidden(schema.GroupResource{Resource: kindOf(list)}, "", nil)
		}
		return nil
	}
	root, source := storeOf(forbid)
	found, err := source.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Empty(t, found.Unread)

	source.Stateless = true
	found, err = source.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Len(t, found.Unread, 4, "a tree shows them")

	refused["PersistentVolumeClaimList"], refused["BrokenList"] = true, true
	source.Stateless = false
	found, err = source.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Len(t, found.Unread, 2)
}

// TestLargeNamespaces: a namespace can have more objects than fit into memory at once. They are listed in pages, and those that no one owns
// are forgotten.
func TestLargeNamespaces(t *testing.T) {
	root, c := rootOf("ReplicaJob", nil)
	var limits []int64
	paged := interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(opts)
			if kindOf(list) != "PodList" {
				return nil
			}
			limits = append(limits, o.Limit)
			page := list.(*unstructured.UnstructuredList)
			if o.Limit == 0 { // all of them
				o.Limit = 3 * pageSize
			}
			for i := range o.Limit {
				pod := unstructured.Unstructured{}
				pod.SetUID(types.UID(fmt.Sprint(o.Continue, "-", i)))
				if i == 0 {
					pod.SetOwnerReferences([]metav1.OwnerReference{{UID: root.GetUID()}})
				}
				page.Items = append(page.Items, pod)
			}
			switch {
			case o.Continue == "expires":
				return apierrors.NewResourceExpired("the continue token is too old")
			case len(limits) == 1:
				page.SetContinue("2")
			case len(limits) == 2:
				page.SetContinue("expires")
			}
			return nil
		},
	})
	found, err := Source{Client: paged}.Gather(t.Context(), root)
	require.NoError(t, err)
	assert.Equal(t, []int64{pageSize, pageSize, pageSize, 0}, limits)
	assert.Len(t, found.Root.Owned, 2)
}

// TestMetadataIsReadUpToTheFirstOwner: that is enough to know that the kind must be read.
func TestMetadataIsReadUpToTheFirstOwner(t *testing.T) {
	owned := []metav1.OwnerReference{{UID: "1"}}
	root, c := rootOf("ReplicaJob", nil)
	var metadata []string
	paged := interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			next := (&client.ListOptions{}).ApplyOptions(opts).Continue
			switch page := list.(type) {
			case *metav1.PartialObjectMetadataList:
				metadata = append(metadata, next)
				page.Items = make([]metav1.PartialObjectMetadata, 1)
				if next == "2" {
					page.Items[0].OwnerReferences = owned
				}
				page.SetContinue(map[string]string{"": "2", "2": "3"}[next])
			case *unstructured.UnstructuredList:
				page.Items = []unstructured.Unstructured{{Object: map[string]any{}}}
				page.Items[0].SetOwnerReferences(owned)
			}
			return nil
		},
	})
	g := gathering{source: Source{Client: paged}, namespace: root.GetNamespace(), byOwner: map[types.UID][]*Member{}}
	require.NoError(t, g.listKind(t.Context(), corev1.SchemeGroupVersion.WithKind("Pod"), true))
	assert.Equal(t, []string{"", "2"}, metadata)
	assert.Len(t, g.byOwner["1"], 1)
}
