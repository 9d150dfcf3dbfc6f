package podtemplate

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// ValidateGlobals returns what keeps global parameters from being rendered into objects that the API server accepts.
// Variables are the API server's to judge: what they may refer to changes with its version.
func ValidateGlobals(params *v1alpha1.GlobalParams, path *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(params.Labels, path.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(params.Annotations, path.Child("annotations"))...)
	if params.NodeName != "" {
		for _, detail := range validation.IsDNS1123Subdomain(params.NodeName) {
			errs = append(errs, field.Invalid(path.Child("nodeName"), params.NodeName, detail))
		}
	}
	return errs
}
