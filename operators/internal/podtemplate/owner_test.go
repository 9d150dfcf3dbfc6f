package podtemplate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/operators/internal/names"
)

func TestAPodNamesItsOwner(t *testing.T) {
	const key = "example.com/owner"
	for _, owner := range []string{"short", strings.Repeat("long", 30)} {
		template := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{key: names.LabelValue(owner)}}}
		AnnotateOwner(template, key, owner)
		assert.Equal(t, []string{owner}, OwnerIn(key)(&corev1.Pod{ObjectMeta: template.ObjectMeta}))
	}
	assert.Empty(t, OwnerIn(key)(&corev1.Pod{}))
	short := &corev1.PodTemplateSpec{}
	AnnotateOwner(short, key, "short")
	assert.Nil(t, short.Annotations)
}
