package podtemplate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func TestAnnotationsAreCountedTogether(t *testing.T) {
	half := strings.Repeat("x", 130<<10)
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": half}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
	}
	for name, tt := range map[string]struct {
		global map[string]string
		ok     bool
	}{
		"alone":       {nil, true},
		"a little":    {map[string]string{"b": "x"}, true},
		"its own win": {map[string]string{"a": half}, true},
		"too many":    {map[string]string{"b": half}, false},
	} {
		errs := ValidateWith(&v1alpha1.GlobalParams{Annotations: tt.global}, template, field.NewPath("spec", "template"))
		if tt.ok {
			assert.Empty(t, errs, name)
		} else if assert.Len(t, errs, 1, name) {
			assert.Equal(t, "spec.template.metadata.annotations: Too long: may not be more than 262144 bytes", errs[0].Error())
		}
	}
}
