package admission

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// validate returns what is wrong with a spec that the CRD's rules can't tell.
func validate(spec *v1alpha1.FluxSetupSpec) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateQuota(&spec.Quota, path.Child("quota"))
	if spec.BorrowingLimit != nil {
		errs = append(errs, validateQuota(spec.BorrowingLimit, path.Child("borrowingLimit"))...)
	}
	if spec.LendingLimit != nil {
		errs = append(errs, validateQuota(spec.LendingLimit, path.Child("lendingLimit"))...)
	}
	errs = append(errs, validateSelector(spec.NamespaceSelector, path)...)
	for i := range spec.PriorityLimits {
		errs = append(errs, validateSelector(spec.PriorityLimits[i].NamespaceSelector, path.Child("priorityLimits").Index(i))...)
	}
	return errs
}

func validateSelector(selector *metav1.LabelSelector, of *field.Path) field.ErrorList {
	return metavalidation.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{}, of.Child("namespaceSelector"))
}

func validateQuota(quota *v1alpha1.FluxQuota, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(quota.Resources)) {
		q := quota.Resources[name]
		at := path.Child("resources").Key(string(name))
		if problem := validateName(name); problem != "" {
			errs = append(errs, field.Invalid(at, string(name), problem))
		}
		if q.Sign() < 0 {
			errs = append(errs, field.Invalid(at, q.String(), "must be greater than or equal to 0"))
		}
	}
	return errs
}

// validateName says what is wrong with the name of a resource. A name that no pod can request would limit nothing.
func validateName(name corev1.ResourceName) string {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return ""
	case "pods":
		return "the number of pods is limited by the field pods beside resources"
	case "miniClusters":
		return "the number of MiniClusters is limited by the field miniClusters beside resources"
	}
	if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return ""
	}
	if !strings.Contains(string(name), "/") {
		return "pods can request cpu, memory, ephemeral-storage, hugepages-<size>, and other resources by their full names, " +
			"such as nvidia.com/gpu"
	}
	return strings.Join(validation.IsQualifiedName(string(name)), "; ")
}
