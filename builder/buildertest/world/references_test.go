package world_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

func TestAPodWaitsForItsSecretsAndConfigMaps(t *testing.T) {
	local := corev1.LocalObjectReference{Name: "config"}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}, Data: map[string][]byte{"key": []byte("x")}}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}, Data: map[string]string{"key": "x"}}
	env := func(source corev1.EnvVarSource) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Containers[0].Env = []corev1.EnvVar{{Name: "X", ValueFrom: &source}} }
	}
	volume := func(source corev1.VolumeSource) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "x", VolumeSource: source}} }
	}
	for _, tt := range []struct {
		name            string
		change          func(*corev1.PodSpec)
		reason, message string
	}{
		{
			name:   "the environment names a Secret",
			change: env(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: local, Key: "key"}}),
			reason: "CreateContainerConfigError", message: `secret "config" not found`,
		}, {
			name: "the environment is a ConfigMap",
			change: func(s *corev1.PodSpec) {
				s.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local}}}
			},
			reason: "CreateContainerConfigError", message: `configmap "config" not found`,
		}, {
			name:   "a volume is a Secret",
			change: volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "config"}}),
			reason: "ContainerCreating",
		}, {
			name: "a projected volume has a ConfigMap",
			change: volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: local}},
			}}}),
			reason: "ContainerCreating",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
			tt.change(&pod.Spec)
			w := newWorld(t, world.Options{}, node("n1"), pod)
			require.NoError(t, w.Settle(t.Context()))
			status := got(t, w, pod, "demo").Status
			assert.Equal(t, corev1.PodPending, status.Phase)
			require.Len(t, status.ContainerStatuses, 1)
			require.NotNil(t, status.ContainerStatuses[0].State.Waiting)
			assert.Equal(t, tt.reason, status.ContainerStatuses[0].State.Waiting.Reason)
			assert.Equal(t, tt.message, status.ContainerStatuses[0].State.Waiting.Message)

			require.NoError(t, w.Server().Client("user").Create(t.Context(), secret.DeepCopy()))
			require.NoError(t, w.Server().Client("user").Create(t.Context(), configMap.DeepCopy()))
			require.NoError(t, w.Settle(t.Context()))
			assert.Equal(t, corev1.PodRunning, got(t, w, pod, "demo").Status.Phase)
		})
	}
}

func TestAPodNeedsTheKeyOfASecret(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "config"}, Key: "key",
	}}}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}}
	w := newWorld(t, world.Options{}, node("n1"), pod, secret)
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, "couldn't find key key in Secret default/config",
		got(t, w, pod, "demo").Status.ContainerStatuses[0].State.Waiting.Message)
	edit(t, w, secret, func(o *corev1.Secret) { o.Data = map[string][]byte{"key": nil} })
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, corev1.PodRunning, got(t, w, pod, "demo").Status.Phase)
}

func TestAPodStartsWithoutOptionalReferences(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "config"}, Optional: new(true),
	}}}
	w := newWorld(t, world.Options{}, node("n1"), pod)
	require.NoError(t, w.Settle(t.Context()))
	assert.Equal(t, corev1.PodRunning, got(t, w, pod, "demo").Status.Phase)
}
