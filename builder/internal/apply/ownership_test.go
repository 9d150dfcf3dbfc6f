package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder/internal/inventory"
)

func TestOwnership(t *testing.T) {
	c := newCluster(t)
	mine := inventory.ControllerReference(c.Owner, c.OwnerKind)
	changed := func(change func(*metav1.OwnerReference)) []metav1.OwnerReference {
		ref := mine
		change(&ref)
		return []metav1.OwnerReference{ref}
	}
	now := metav1.Now()
	cases := map[string]struct {
		refs    []metav1.OwnerReference
		deleted *metav1.Time
		want    ownership
	}{
		"ours":                         {[]metav1.OwnerReference{mine}, nil, owned},
		"ours, being deleted":          {[]metav1.OwnerReference{mine}, &now, terminating},
		"no one's":                     {nil, nil, notOwned},
		"owned, not controlled":        {changed(func(r *metav1.OwnerReference) { r.Controller = nil }), nil, notOwned},
		"another's":                    {changed(func(r *metav1.OwnerReference) { r.UID, r.Name = "2", "other" }), nil, notOwned},
		"another kind's":               {changed(func(r *metav1.OwnerReference) { r.UID, r.Kind = "2", "Secret" }), nil, notOwned},
		"another group's":              {changed(func(r *metav1.OwnerReference) { r.UID, r.APIVersion = "2", "g/v1" }), nil, notOwned},
		"a predecessor's":              {changed(func(r *metav1.OwnerReference) { r.UID = "0" }), nil, terminating},
		"no group":                     {changed(func(r *metav1.OwnerReference) { r.UID, r.APIVersion = "0", "a/b/c" }), nil, terminating},
		"ours and another's reference": {append([]metav1.OwnerReference{{UID: "2"}}, mine), nil, owned},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{OwnerReferences: tc.refs, DeletionTimestamp: tc.deleted}}
			assert.Equal(t, tc.want, c.ownershipOf(&Desired{Child: &Child{Object: child}}, child))
		})
	}
	assert.True(t, ptr.Deref(mine.BlockOwnerDeletion, false))
	assert.Equal(t, "v1", mine.APIVersion)
}
