package rules

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func deployment(o *appsv1.Deployment, spec *field.Path) field.ErrorList {
	errs := notNegative(o.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, selectorOf(o.Spec.Selector, &o.Spec.Template, spec, "empty selector is invalid for deployment")...)
	errs = append(errs, notNegative(&o.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	if o.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && o.Spec.Strategy.RollingUpdate != nil {
		errs = append(errs, field.Forbidden(spec.Child("strategy", "rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'"))
	}
	return append(errs, notNegative(o.Spec.RevisionHistoryLimit, spec.Child("revisionHistoryLimit"))...)
}

func statefulSet(o *appsv1.StatefulSet, spec *field.Path) field.ErrorList {
	errs := notNegative(o.Spec.Replicas, spec.Child("replicas"))
	errs = append(errs, notNegative(&o.Spec.MinReadySeconds, spec.Child("minReadySeconds"))...)
	return append(errs, selectorOf(o.Spec.Selector, withClaims(&o.Spec), spec, "empty selector is invalid for statefulset")...)
}

// withClaims returns a StatefulSet's template with the volumes that its controller makes of the claims. A claim's volume replaces the
// template's of the same name.
func withClaims(s *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	if len(s.VolumeClaimTemplates) == 0 {
		return &s.Template
	}
	template := s.Template
	template.Spec.Volumes = nil
	claims := map[string]bool{}
	for i := range s.VolumeClaimTemplates {
		if name := s.VolumeClaimTemplates[i].Name; !claims[name] {
			claims[name] = true
			template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: name})
		}
	}
	for _, v := range s.Template.Spec.Volumes {
		if !claims[v.Name] {
			template.Spec.Volumes = append(template.Spec.Volumes, v)
		}
	}
	return &template
}

// selectorOf checks a workload's selector against its template, and the template.
func selectorOf(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, spec *field.Path, empty string) field.ErrorList {
	var errs field.ErrorList
	if selector == nil {
		errs = append(errs, field.Required(spec.Child("selector"), ""))
	} else if !isHeld(selector) {
		errs = append(errs, field.Invalid(spec.Child("selector"), selector, empty))
	}
	path := spec.Child("template")
	if s, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		errs = append(errs, field.Invalid(spec.Child("selector"), selector, "invalid label selector"))
	} else if !s.Empty() && !s.Matches(labels.Set(template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, podTemplate(template, path)...)
	if template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), template.Spec.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	return errs
}

func statefulSetUpdate(now, before *appsv1.StatefulSetSpec, spec *field.Path) field.ErrorList {
	errs := unchanged(now.Selector, before.Selector, spec.Child("selector"))
	errs = append(errs, unchanged(now.VolumeClaimTemplates, before.VolumeClaimTemplates, spec.Child("volumeClaimTemplates"))...)
	errs = append(errs, unchanged(now.ServiceName, before.ServiceName, spec.Child("serviceName"))...)
	return append(errs, unchanged(now.PodManagementPolicy, before.PodManagementPolicy, spec.Child("podManagementPolicy"))...)
}
