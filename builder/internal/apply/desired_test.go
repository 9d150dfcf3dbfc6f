package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
)

func TestStamp(t *testing.T) {
	stamped := func(obj client.Object) *Desired { return stamped(t, Child{Object: obj}) }
	first := stamped(config("c"))
	assert.Equal(t, "default", first.object.GetNamespace())
	assert.Equal(t, wellknown.ManagedBy, first.object.GetLabels()[wellknown.LabelManagedBy])
	assert.Equal(t, first.Digest, first.object.GetAnnotations()[wellknown.AnnotationDigest])
	assert.True(t, metav1.IsControlledBy(first.object, owner()))

	read := first.object.DeepCopyObject().(*corev1.ConfigMap) // as if from the cluster
	read.UID, read.ResourceVersion, read.CreationTimestamp = "u", "7", metav1.Now()
	read.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	again := stamped(read)
	assert.Equal(t, first.Digest, again.Digest, "what was read can be desired")
	assert.Len(t, again.object.GetOwnerReferences(), 1)

	labelled := config("c")
	labelled.Labels = map[string]string{wellknown.LabelManagedBy: "someone"}
	assert.Equal(t, "someone", stamped(labelled).object.GetLabels()[wellknown.LabelManagedBy])
	assert.NotEqual(t, first.Digest, stamped(labelled).Digest)

	secret := stamped(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"a": "b"}})
	assert.Equal(t, map[string][]byte{"a": []byte("b")}, secret.object.(*corev1.Secret).Data)
	loose := stamped(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "stringData": map[string]any{"a": "b"}, "status": map[string]any{},
	}})
	assert.Equal(t, map[string]any{"a": "Yg=="}, loose.fields["data"])
	assert.NotContains(t, loose.fields, "stringData")
	assert.NotContains(t, loose.fields, "status")
	assert.Equal(t, secret.Digest, loose.Digest, "both forms say the same")
}
