package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/internal/wellknown"
)

func TestWhereCrossNamespaceIs(t *testing.T) {
	cluster := newCluster(t)
	for name, c := range map[string]struct {
		obj  client.Object
		want string
	}{
		"another namespace": {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "c"}}, "ConfigMap other/c"},
		"the owner's":       {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}, "ConfigMap default/c"},
		"cluster-scoped":    {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "n"}}, "Namespace n"},
		"nowhere":           {config("c"), ""},
		"no name":           {&corev1.Namespace{}, ""},
		"nil":               {nil, ""},
	} {
		_, key, err := cluster.KeyOf(&Child{Object: c.obj, CrossNamespace: true})
		if c.want == "" {
			assert.ErrorIs(t, err, failure.ErrMisuse, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.want, key.String(), name)
	}
}

// allMarks are the fields that the builder sets in a cross-namespace child to say whose it is.
const allMarks = `{"f:metadata":{"f:labels":{"f:armature.dev/owner-uid":{}},"f:annotations":{"f:armature.dev/owner":{},"f:armature.dev/owner-kind":{}}}}`

func TestWhoseIsCrossNamespace(t *testing.T) {
	cluster := newCluster(t)
	marked := func(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
		c := config("c")
		cluster.Marks.SetCrossNamespace(c)
		c.ManagedFields = entries(entry(cluster.Name, metav1.ManagedFieldsOperationApply, allMarks))
		change(c)
		return c
	}
	now := metav1.Now()
	d := &Desired{Child: &Child{Object: config("c"), CrossNamespace: true}}
	for name, c := range map[string]struct {
		found *corev1.ConfigMap
		want  ownership
	}{
		"ours":            {marked(func(*corev1.ConfigMap) {}), owned},
		"terminating":     {marked(func(c *corev1.ConfigMap) { c.DeletionTimestamp = &now }), terminating},
		"no label":        {marked(func(c *corev1.ConfigMap) { c.Labels = nil }), notOwned},
		"other UID":       {marked(func(c *corev1.ConfigMap) { c.Labels[wellknown.LabelOwnerUID] = "x" }), notOwned},
		"label of others": {marked(func(c *corev1.ConfigMap) { c.ManagedFields[0].Manager = "kubectl-label" }), notOwned},
		"label of others, the rest ours": {marked(func(c *corev1.ConfigMap) {
			c.ManagedFields = entries(entry("kubectl-label", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:labels":{"f:armature.dev/owner-uid":{}}}}`),
				entry(cluster.Name, metav1.ManagedFieldsOperationApply, `{"f:metadata":{"f:annotations":{"f:armature.dev/owner":{},"f:armature.dev/owner-kind":{}}}}`))
		}), notOwned},
		"label alone":   {marked(func(c *corev1.ConfigMap) { c.Annotations = nil }), notOwned},
		"by the status": {marked(func(c *corev1.ConfigMap) { c.ManagedFields[0].Subresource = "status" }), notOwned},
		"controlled":    {marked(func(c *corev1.ConfigMap) { c.OwnerReferences = []metav1.OwnerReference{{Controller: new(true)}} }), notOwned},
	} {
		assert.Equal(t, c.want, cluster.ownershipOf(d, c.found), name)
	}
	assert.Equal(t, notOwned, cluster.ownershipOf(&Desired{Child: &Child{Object: config("c")}}, marked(func(*corev1.ConfigMap) {})), "the label makes no child at home")
}
