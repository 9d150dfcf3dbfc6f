package sources

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
)

// An object on which an author's function panics ends no process.
func TestPanicsOfAuthorsFunctions(t *testing.T) {
	obj := &corev1.ConfigMap{}
	obj.Namespace, obj.Name = "default", "a"
	panics := func(client.Object) []string { panic("no data") }
	_, err := namesOf(panics, obj)
	assert.ErrorIs(t, err, failure.ErrMisuse)
	assert.ErrorContains(t, err, "in *v1.ConfigMap default/a panicked: no data")
	assert.Empty(t, logged(panics)(obj))

	all, names := Concerns(func(_, _ client.Object) (bool, []types.NamespacedName) { panic("no data") }).call(nil, obj)
	assert.True(t, all)
	assert.Empty(t, names)
}
