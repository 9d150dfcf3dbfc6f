package podtemplate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestValidateGlobals(t *testing.T) {
	path := field.NewPath("spec", "globalParams")
	assert.Empty(t, ValidateGlobals(&v1alpha1.GlobalParams{}, path))
	assert.Empty(t, ValidateGlobals(&v1alpha1.GlobalParams{
		NodeName: "a.b", Labels: map[string]string{"k": "v"}, Annotations: map[string]string{"k": "any thing"},
	}, path))
	errs := ValidateGlobals(&v1alpha1.GlobalParams{
		NodeName: "A", Labels: map[string]string{"k": "any thing"}, Annotations: map[string]string{"a b": ""},
	}, path)
	assert.Len(t, errs, 3)
	assert.Contains(t, errs[0].Error(), `spec.globalParams.labels: Invalid value: "any thing"`)
	assert.Contains(t, errs[1].Error(), `spec.globalParams.annotations: Invalid value: "a b"`)
	assert.Contains(t, errs[2].Error(), `spec.globalParams.nodeName: Invalid value: "A"`)
}

func TestValidate(t *testing.T) {
	path := field.NewPath("template")
	good := func() *corev1.PodTemplateSpec {
		template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init"}}, Containers: []corev1.Container{{Name: "main"}},
		}}
		template.Labels, template.Annotations = map[string]string{"k": "v"}, map[string]string{"k": "any thing"}
		return template
	}
	assert.Empty(t, Validate(good(), path))
	for want, spoil := range map[string]func(*corev1.PodTemplateSpec){
		`template.spec.containers: Required value`:                  func(p *corev1.PodTemplateSpec) { p.Spec.Containers = nil },
		`template.spec.containers[0].name: Duplicate value: "init"`: func(p *corev1.PodTemplateSpec) { p.Spec.Containers[0].Name = "init" },
		`template.spec.initContainers[0].name: Invalid value: "I_"`: func(p *corev1.PodTemplateSpec) { p.Spec.InitContainers[0].Name = "I_" },
		`template.metadata.labels: Invalid value: "any thing"`:      func(p *corev1.PodTemplateSpec) { p.Labels["k"] = "any thing" },
		`template.metadata.annotations: Invalid value: "a b"`:       func(p *corev1.PodTemplateSpec) { p.Annotations["a b"] = "" },
	} {
		template := good()
		spoil(template)
		errs := Validate(template, path)
		if assert.Len(t, errs, 1, want) {
			assert.Contains(t, errs[0].Error(), want)
		}
	}
}
