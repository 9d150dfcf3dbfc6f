package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/internal/wellknown"
)

func TestWhereCrossNamespaceIs(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	p, err := e.newPass(owner())
	require.NoError(t, err)
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
		_, key, err := p.keyOf(Want(c.obj, CrossNamespace()))
		if c.want == "" {
			assert.ErrorIs(t, err, ErrMisuse, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.want, key.String(), name)
	}
}

// allMarks are the fields that the builder sets in a cross-namespace child to say whose it is.
const allMarks = `{"f:metadata":{"f:labels":{"f:armature.dev/owner-uid":{}},"f:annotations":{"f:armature.dev/owner":{},"f:armature.dev/owner-kind":{}}}}`

func TestWhoseIsCrossNamespace(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	p, err := e.newPass(owner())
	require.NoError(t, err)
	marked := func(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
		c := config("c")
		p.marks.SetCrossNamespace(c)
		c.ManagedFields = entries(entry(e.name, metav1.ManagedFieldsOperationApply, allMarks))
		change(c)
		return c
	}
	now := metav1.Now()
	d := &desired{child: Want(config("c"), CrossNamespace())}
	for name, c := range map[string]struct {
		found *corev1.ConfigMap
		want  inventory.Ownership
	}{
		"ours":            {marked(func(*corev1.ConfigMap) {}), inventory.Owned},
		"leaving":         {marked(func(c *corev1.ConfigMap) { c.DeletionTimestamp = &now }), inventory.Terminating},
		"no label":        {marked(func(c *corev1.ConfigMap) { c.Labels = nil }), inventory.NotOwned},
		"other UID":       {marked(func(c *corev1.ConfigMap) { c.Labels[wellknown.LabelOwnerUID] = "x" }), inventory.NotOwned},
		"label of others": {marked(func(c *corev1.ConfigMap) { c.ManagedFields[0].Manager = "kubectl-label" }), inventory.NotOwned},
		"label of others, the rest ours": {marked(func(c *corev1.ConfigMap) {
			c.ManagedFields = entries(entry("kubectl-label", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:labels":{"f:armature.dev/owner-uid":{}}}}`),
				entry(e.name, metav1.ManagedFieldsOperationApply, `{"f:metadata":{"f:annotations":{"f:armature.dev/owner":{},"f:armature.dev/owner-kind":{}}}}`))
		}), inventory.NotOwned},
		"label alone":   {marked(func(c *corev1.ConfigMap) { c.Annotations = nil }), inventory.NotOwned},
		"by the status": {marked(func(c *corev1.ConfigMap) { c.ManagedFields[0].Subresource = "status" }), inventory.NotOwned},
		"controlled":    {marked(func(c *corev1.ConfigMap) { c.OwnerReferences = []metav1.OwnerReference{{Controller: ptr.To(true)}} }), inventory.NotOwned},
	} {
		assert.Equal(t, c.want, p.ownershipOf(d, c.found), name)
	}
	assert.Equal(t, inventory.NotOwned, p.ownershipOf(&desired{child: Want(config("c"))}, marked(func(*corev1.ConfigMap) {})), "the label makes no child at home")
}

func TestChildCrossNamespaceWakesItsOwner(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	p, err := e.newPass(owner())
	require.NoError(t, err)
	c := config("c")
	find := ownersCrossNamespace(schema.GroupKind{Kind: "ConfigMap"})
	assert.Empty(t, find(t.Context(), c))
	p.marks.SetCrossNamespace(c)
	got := find(t.Context(), c)
	require.Len(t, got, 1)
	assert.Equal(t, "default/owner", got[0].String())
	assert.Empty(t, ownersCrossNamespace(schema.GroupKind{Kind: "Other"})(t.Context(), c))
	c.Annotations[wellknown.AnnotationOwner] = "nonsense"
	assert.Empty(t, find(t.Context(), c))
}
