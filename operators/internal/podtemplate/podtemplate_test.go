package podtemplate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func env(pairs ...string) []corev1.EnvVar {
	var vars []corev1.EnvVar
	for i := 0; i < len(pairs); i += 2 {
		vars = append(vars, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
	}
	return vars
}

func TestGlobalsMergeAndTheTemplateWins(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "own"}, Annotations: map[string]string{"x": "own"}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers:     []corev1.Container{{Name: "main", Env: env("FOO", "own", "PATH", "$(QUE)")}},
		},
	}
	params := &v1alpha1.GlobalParams{
		Env:         env("FOO", "bar", "QUE", "pasa"),
		Labels:      map[string]string{"a": "global", "b": "global"},
		Annotations: map[string]string{"x": "global", "y": "global"},
	}
	before := params.DeepCopy()
	Globals(template, params)

	assert.Equal(t, map[string]string{"a": "own", "b": "global"}, template.Labels)
	assert.Equal(t, map[string]string{"x": "own", "y": "global"}, template.Annotations)
	assert.Equal(t, env("FOO", "bar", "QUE", "pasa"), template.Spec.InitContainers[0].Env)
	assert.Equal(t, env("QUE", "pasa", "FOO", "own", "PATH", "$(QUE)"), template.Spec.Containers[0].Env)
	assert.Nil(t, template.Spec.Affinity, "no node was named")
	assert.Equal(t, before, params)
}

func TestGlobalsShareNothing(t *testing.T) {
	params := &v1alpha1.GlobalParams{
		Env: []corev1.EnvVar{{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}},
	}
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{}, {}}}}
	Globals(template, params)
	template.Spec.Containers[0].Env[0].ValueFrom.FieldRef.FieldPath = "changed"
	assert.Equal(t, "status.podIP", params.Env[0].ValueFrom.FieldRef.FieldPath)
	assert.Equal(t, "status.podIP", template.Spec.Containers[1].Env[0].ValueFrom.FieldRef.FieldPath)
}

func TestOnNode(t *testing.T) {
	ssd := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}
	gpu := corev1.NodeSelectorRequirement{Key: "gpu", Operator: corev1.NodeSelectorOpExists}
	preferred := []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{gpu}}}}
	required := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	on := []corev1.NodeSelectorRequirement{isNode("minikube")}

	tests := map[string]struct{ given, want corev1.PodSpec }{
		"nothing required": {
			corev1.PodSpec{},
			corev1.PodSpec{Affinity: required(corev1.NodeSelectorTerm{MatchFields: on})},
		},
		"each of the template's alternatives gets it": {
			corev1.PodSpec{Affinity: required(
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{ssd}},
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{gpu}})},
			corev1.PodSpec{Affinity: required(
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{ssd}, MatchFields: on},
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{gpu}, MatchFields: on})},
		},
		"an empty term goes on matching nothing": {
			corev1.PodSpec{Affinity: required(corev1.NodeSelectorTerm{})},
			corev1.PodSpec{Affinity: required(corev1.NodeSelectorTerm{})},
		},
		"preferences stay": {
			corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}}},
			corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: preferred,
				RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: on}}},
			}}},
		},
		"the template's own nodeName wins": {
			corev1.PodSpec{NodeName: "elsewhere"},
			corev1.PodSpec{NodeName: "elsewhere"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			OnNode(&tt.given, "minikube")
			assert.Equal(t, tt.want, tt.given)
		})
	}
}

func TestShareVolumes(t *testing.T) {
	emptyDir := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	hostPath := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}
	shared := []corev1.Volume{{Name: "work", VolumeSource: hostPath}, {Name: "cache", VolumeSource: hostPath}}
	mounts := []corev1.VolumeMount{{Name: "work", MountPath: "/work"}, {Name: "cache", MountPath: "/cache"}}
	own := corev1.VolumeMount{Name: "own", MountPath: "/cache"}
	given := func() *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Volumes:        []corev1.Volume{{Name: "work", VolumeSource: emptyDir}, {Name: "own", VolumeSource: emptyDir}},
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers:     []corev1.Container{{Name: "main", VolumeMounts: []corev1.VolumeMount{own}}},
		}}
	}

	template := given()
	ShareVolumes(template, shared, mounts)
	assert.Equal(t, []corev1.Volume{
		{Name: "work", VolumeSource: emptyDir}, {Name: "own", VolumeSource: emptyDir}, {Name: "cache", VolumeSource: hostPath},
	}, template.Spec.Volumes, "the template's volume wins")
	assert.Equal(t, mounts, template.Spec.InitContainers[0].VolumeMounts)
	assert.Equal(t, []corev1.VolumeMount{own, mounts[0]}, template.Spec.Containers[0].VolumeMounts, "the container's mount wins")

	untouched := given()
	ShareVolumes(untouched, shared, nil)
	assert.Equal(t, given(), untouched, "no mounts, no volumes")
}
