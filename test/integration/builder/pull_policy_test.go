package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The recipe "Change an image from :latest to a version" in docs/recipes.md: the pull policy follows the image, unless the plan or
// another writer sets it.
func TestPullPolicyFollowsTheImage(t *testing.T) {
	w := newWorld(t)
	desired := webDeployment()
	change := func(image string, policy corev1.PullPolicy) {
		t.Helper()
		desired.Spec.Template.Spec.Containers[0].Image, desired.Spec.Template.Spec.Containers[0].ImagePullPolicy = image, policy
		w.mustWant(true, image, desired)
	}
	assertPolicy := func(policy corev1.PullPolicy) {
		t.Helper()
		assert.Equal(t, policy, w.get(desired).(*appsv1.Deployment).Spec.Template.Spec.Containers[0].ImagePullPolicy)
	}
	for _, step := range []struct {
		image        string
		set, becomes corev1.PullPolicy
	}{
		{"web:latest", "", corev1.PullAlways},
		{"web:1.2", "", corev1.PullIfNotPresent},
		{"web", "", corev1.PullAlways},
		{"web:1.3", "", corev1.PullIfNotPresent},
		{"web:latest", corev1.PullNever, corev1.PullNever},
		{"web:1.4", "", corev1.PullIfNotPresent},
	} {
		change(step.image, step.set)
		assertPolicy(step.becomes)
	}
	w.edit(desired, func(o client.Object) {
		o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways
	})
	change("web:1.5", "")
	assertPolicy(corev1.PullAlways)
}
