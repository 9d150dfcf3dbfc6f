package rules

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// jobPolicies checks what a Job's policies need of each other: backoffLimitPerIndex and successPolicy need an Indexed Job,
// maxFailedIndexes needs backoffLimitPerIndex, podFailurePolicy needs restartPolicy Never and podReplacementPolicy Failed.
func jobPolicies(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	isIndexed := ptr.Deref(s.CompletionMode, "") == batchv1.IndexedCompletion
	errs = append(errs, notNegative(s.BackoffLimitPerIndex, spec.Child("backoffLimitPerIndex"))...)
	if s.MaxFailedIndexes != nil {
		errs = append(errs, maxFailedIndexes(s, spec, isIndexed)...)
	}
	if s.BackoffLimitPerIndex != nil && !isIndexed {
		errs = append(errs, field.Invalid(spec.Child("backoffLimitPerIndex"), *s.BackoffLimitPerIndex, "requires indexed completion mode"))
	}
	if s.MaxFailedIndexes != nil && !isIndexed {
		errs = append(errs, field.Invalid(spec.Child("maxFailedIndexes"), *s.MaxFailedIndexes, "requires indexed completion mode"))
	}
	if s.PodFailurePolicy != nil {
		for i := range s.PodFailurePolicy.Rules {
			errs = append(errs, podFailureRule(s, i, spec.Child("podFailurePolicy", "rules").Index(i))...)
		}
	}
	if s.SuccessPolicy != nil {
		errs = append(errs, successPolicy(s, spec.Child("successPolicy"), isIndexed)...)
	}
	if s.PodFailurePolicy != nil && s.PodReplacementPolicy != nil && *s.PodReplacementPolicy != batchv1.Failed {
		errs = append(errs, field.NotSupported(spec.Child("podReplacementPolicy"), *s.PodReplacementPolicy,
			[]batchv1.PodReplacementPolicy{batchv1.Failed}))
	}
	return errs
}

func maxFailedIndexes(s *batchv1.JobSpec, spec *field.Path, isIndexed bool) field.ErrorList {
	errs := notNegative(s.MaxFailedIndexes, spec.Child("maxFailedIndexes"))
	if s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(spec.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if isIndexed && s.Completions != nil && *s.MaxFailedIndexes > *s.Completions {
		errs = append(errs, field.Invalid(spec.Child("maxFailedIndexes"), *s.MaxFailedIndexes, "must be less than or equal to completions"))
	}
	return errs
}

func podFailureRule(s *batchv1.JobSpec, i int, path *field.Path) field.ErrorList {
	rule := &s.PodFailurePolicy.Rules[i]
	var errs field.ErrorList
	if rule.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Invalid(path.Child("action"), rule.Action, "requires the backoffLimitPerIndex to be set"))
	}
	if rule.OnExitCodes != nil {
		errs = append(errs, exitCodes(rule.OnExitCodes, &s.Template.Spec, path.Child("onExitCodes"))...)
	}
	switch {
	case rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
	return errs
}

func exitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	isNamed := func(c corev1.Container) bool { return c.Name == *r.ContainerName }
	if r.ContainerName != nil && !slices.ContainsFunc(pod.Containers, isNamed) && !slices.ContainsFunc(pod.InitContainers, isNamed) {
		errs = append(errs, field.Invalid(path.Child("containerName"), *r.ContainerName,
			"must be one of the container or initContainer names in the pod template"))
	}
	values := path.Child("values")
	if len(r.Values) == 0 {
		errs = append(errs, field.Invalid(values, r.Values, "at least one value is required"))
	}
	for i, code := range r.Values {
		if code == 0 && r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			errs = append(errs, field.Invalid(values.Index(i), code, "must not be 0 for the In operator"))
		}
		if slices.Contains(r.Values[:i], code) {
			errs = append(errs, field.Duplicate(values.Index(i), code))
		}
	}
	if !slices.IsSorted(r.Values) {
		errs = append(errs, field.Invalid(values, r.Values, "must be ordered"))
	}
	return errs
}

func successPolicy(s *batchv1.JobSpec, path *field.Path, isIndexed bool) field.ErrorList {
	if !isIndexed {
		return field.ErrorList{field.Invalid(path, *s.SuccessPolicy, "requires indexed completion mode")}
	}
	rules := path.Child("rules")
	if len(s.SuccessPolicy.Rules) == 0 {
		return field.ErrorList{field.Required(rules, "at least one rules must be specified when the successPolicy is specified")}
	}
	var errs field.ErrorList
	for i, rule := range s.SuccessPolicy.Rules {
		if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
			errs = append(errs, field.Required(rules.Index(i), "at least one of succeededCount or succeededIndexes must be specified"))
		}
		count := rules.Index(i).Child("succeededCount")
		errs = append(errs, notNegative(rule.SucceededCount, count)...)
		if n := ptr.Deref(s.Completions, 0); rule.SucceededCount != nil && *rule.SucceededCount > n {
			errs = append(errs, field.Invalid(count, *rule.SucceededCount,
				fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", n)))
		}
	}
	return errs
}
