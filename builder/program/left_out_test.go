package program

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/armature-dev/armature/examples/tutorial/api/v1"
)

// The kinds that decide where a program may work are its own that it reads in the watched namespaces.
func TestOwnKinds(t *testing.T) {
	scheme := NewScheme(v1.AddToScheme)
	kinds, err := Options{Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {}}}}.ownKinds(scheme)
	require.NoError(t, err)
	assert.Equal(t, []schema.GroupVersionKind{v1.GroupVersion.WithKind("Backup")}, kinds)

	system := cache.ByObject{Namespaces: map[string]cache.Config{"system": {}}}
	kinds, err = Options{Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&v1.Backup{}: system}}}.ownKinds(scheme)
	require.NoError(t, err)
	assert.Empty(t, kinds)
}
