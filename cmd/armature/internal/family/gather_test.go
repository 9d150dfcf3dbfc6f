package family

import (
	"context"
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
