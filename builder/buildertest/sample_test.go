package buildertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// A sample of a cluster-scoped kind has no namespace.
func TestSampleHasTheScopeOfItsKind(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	sample := write("sample.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	crd := func(kind, scope string) string {
		return write(kind+".yaml", "kind: CustomResourceDefinition\nspec:\n  scope: "+scope+"\n  names: {kind: "+kind+"}\n  versions: [{name: v1}]\n")
	}
	assert.Empty(t, Sample(t, sample, &corev1.ConfigMap{}, crd("ConfigMap", "Cluster")).Namespace)
	assert.Equal(t, "default", Sample(t, sample, &corev1.ConfigMap{}, crd("ConfigMap", "Namespaced"), crd("Other", "Cluster")).Namespace)
	assert.Equal(t, "default", Sample(t, sample, &corev1.ConfigMap{}).Namespace)

	class := write("class.yaml", "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: a}\n")
	assert.Empty(t, Sample(t, class, &networkingv1.IngressClass{}).Namespace)
	assert.Empty(t, Sample(t, class, &networkingv1.IngressClass{}, crd("Other", "Cluster")).Namespace)
}

// Another kind in the file would be read into the type as far as its fields agree.
func TestSampleHasTheKindOfItsType(t *testing.T) {
	secret, ingress := corev1.SchemeGroupVersion.WithKind("Secret"), networkingv1.SchemeGroupVersion.WithKind("Ingress")
	other := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Other"}
	assert.True(t, mayBe(&corev1.Secret{}, secret))
	assert.False(t, mayBe(&corev1.ConfigMap{}, secret))
	assert.False(t, mayBe(&corev1.Secret{}, ingress))
	assert.False(t, mayBe(&corev1.Secret{}, other))
	assert.False(t, mayBe(&ownObject{}, secret), "an author's type")
	assert.True(t, mayBe(&ownObject{}, other), "an author's type")
}

// ownObject is a type that the scheme of Kubernetes doesn't have.
type ownObject struct{ corev1.ConfigMap }

// A cluster-scoped object with a namespace would be stored under a name that no read asks for.
func TestAddRefusesTheNamespaceOfAClusterScopedObject(t *testing.T) {
	err := NewServer(scheme.Scheme).Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "n"}})
	require.EqualError(t, err,
		"*v1.Node n to be added has the namespace default; accepted is none, because the kind is cluster-scoped (see Sample)")
}
