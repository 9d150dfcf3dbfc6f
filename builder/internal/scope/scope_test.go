package scope

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestKindsAreThoseOfClientGo compares the table with client-go's typed clients: the one of a namespaced kind takes a namespace.
func TestKindsAreThoseOfClientGo(t *testing.T) {
	kinds := 0
	for group := range reflect.TypeFor[kubernetes.Interface]().Methods() {
		if group.Type.NumOut() != 1 || group.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		for resource := range group.Type.Out(0).Methods() {
			if resource.Type.NumOut() != 1 || resource.Type.Out(0).Kind() != reflect.Interface {
				continue
			}
			create, ok := resource.Type.Out(0).MethodByName("Create")
			if !ok || create.Type.NumOut() != 2 {
				continue
			}
			obj, ok := reflect.TypeAssert[runtime.Object](reflect.New(create.Type.Out(0).Elem()))
			require.True(t, ok, resource.Name)
			gvks, _, err := scheme.Scheme.ObjectKinds(obj)
			require.NoError(t, err)
			assert.Equal(t, resource.Type.NumIn() == 0, IsCluster(gvks[0].GroupKind()), "%s", gvks[0])
			kinds++
		}
	}
	assert.Greater(t, kinds, 100)
	assert.False(t, IsCluster(schema.GroupKind{Group: "example.com", Kind: "Node"}))
}
