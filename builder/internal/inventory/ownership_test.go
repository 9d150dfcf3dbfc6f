package inventory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestOwnership(t *testing.T) {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "1"}}
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	mine := ControllerReference(owner, kind)
	changed := func(change func(*metav1.OwnerReference)) []metav1.OwnerReference {
		ref := mine
		change(&ref)
		return []metav1.OwnerReference{ref}
	}
	now := metav1.Now()
	cases := map[string]struct {
		refs    []metav1.OwnerReference
		deleted *metav1.Time
		want    Ownership
	}{
		"ours":                         {[]metav1.OwnerReference{mine}, nil, Owned},
		"ours, being deleted":          {[]metav1.OwnerReference{mine}, &now, Terminating},
		"no one's":                     {nil, nil, NotOwned},
		"owned, not controlled":        {changed(func(r *metav1.OwnerReference) { r.Controller = nil }), nil, NotOwned},
		"another's":                    {changed(func(r *metav1.OwnerReference) { r.UID, r.Name = "2", "other" }), nil, NotOwned},
		"another kind's":               {changed(func(r *metav1.OwnerReference) { r.UID, r.Kind = "2", "Secret" }), nil, NotOwned},
		"another group's":              {changed(func(r *metav1.OwnerReference) { r.UID, r.APIVersion = "2", "g/v1" }), nil, NotOwned},
		"a predecessor's":              {changed(func(r *metav1.OwnerReference) { r.UID = "0" }), nil, Terminating},
		"no group":                     {changed(func(r *metav1.OwnerReference) { r.UID, r.APIVersion = "0", "a/b/c" }), nil, Terminating},
		"ours and another's reference": {append([]metav1.OwnerReference{{UID: "2"}}, mine), nil, Owned},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{OwnerReferences: c.refs, DeletionTimestamp: c.deleted}}
			assert.Equal(t, c.want, OwnershipOf(child, owner, kind))
		})
	}
	assert.True(t, ptr.Deref(mine.BlockOwnerDeletion, false))
	assert.Equal(t, "v1", mine.APIVersion)
}
