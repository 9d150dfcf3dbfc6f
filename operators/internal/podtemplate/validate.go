package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// ValidateGlobals returns what keeps global parameters from being rendered into objects that the API server accepts.
// The API server validates variables: what they may refer to changes with its version.
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

// Validate returns what is wrong with a template at a glance: no containers, two of a name, labels and annotations that
// no object can have. The API server validates the rest when the first pod is created.
func Validate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	meta, spec := path.Child("metadata"), path.Child("spec")
	errs := metavalidation.ValidateLabels(template.Labels, meta.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(template.Annotations, meta.Child("annotations"))...)
	if len(template.Spec.Containers) == 0 {
		errs = append(errs, field.Required(spec.Child("containers"), "at least one container is needed"))
	}
	names := map[string]bool{}
	for _, list := range []struct {
		path       *field.Path
		containers []corev1.Container
	}{{spec.Child("initContainers"), template.Spec.InitContainers}, {spec.Child("containers"), template.Spec.Containers}} {
		for i := range list.containers {
			name, at := list.containers[i].Name, list.path.Index(i).Child("name")
			for _, detail := range validation.IsDNS1123Label(name) {
				errs = append(errs, field.Invalid(at, name, detail))
			}
			if names[name] {
				errs = append(errs, field.Duplicate(at, name))
			}
			names[name] = true
		}
	}
	return errs
}

// ValidateWith returns what is wrong with a template at a glance, and with what becomes of it when global parameters are
// added: together they may have too many annotations, of which all objects may have 256 KiB.
func ValidateWith(params *v1alpha1.GlobalParams, template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := Validate(template, path)
	if len(errs) > 0 || len(params.Annotations) == 0 || len(template.Annotations) == 0 {
		return errs
	}
	if err := apivalidation.ValidateAnnotationsSize(Merge(template.Annotations, params.Annotations)); err != nil {
		errs = append(errs, field.TooLong(path.Child("metadata", "annotations"), field.OmitValueType{}, apivalidation.TotalAnnotationSizeLimitB))
	}
	return errs
}
