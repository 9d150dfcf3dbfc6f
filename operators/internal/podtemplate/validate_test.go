package podtemplate

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
