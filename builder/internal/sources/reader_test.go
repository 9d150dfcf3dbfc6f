package sources

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// A child in a namespace that the manager doesn't watch can't be observed. The error of controller-runtime's cache says nothing of the
// manager.
func TestGetInANamespaceThatTheCacheDoesNotHave(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	c, err := cache.New(&rest.Config{Host: "https://127.0.0.1:1"}, cache.Options{
		Scheme: clientgoscheme.Scheme, Mapper: mapper, DefaultNamespaces: map[string]cache.Config{"shop": {}},
	})
	require.NoError(t, err)
	registry := kinds.New(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), time.Now)
	k, err := registry.Of(&corev1.ConfigMap{})
	require.NoError(t, err)
	found, err := Reader{From: c, Kinds: registry}.Get(t.Context(), k, store.KeyOf(k.GVK, "stock", "a"))
	assert.Nil(t, found)
	assert.EqualError(t, err, "the manager doesn't watch the namespace stock; add it to the namespaces of its cache (--watch-namespaces), "+
		"or keep the object in one of those")
}
