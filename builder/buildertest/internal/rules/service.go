package rules

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func intOf(v *intstr.IntOrString) *int32 {
	if v == nil || v.Type != intstr.Int {
		return nil
	}
	return &v.IntVal
}

func service(o *corev1.Service, spec *field.Path) field.ErrorList {
	s := &o.Spec
	var errs field.ErrorList
	if len(s.Ports) == 0 && s.Type != corev1.ServiceTypeExternalName && s.ClusterIP != corev1.ClusterIPNone {
		errs = append(errs, field.Required(spec.Child("ports"), ""))
	}
	names, numbers := map[string]bool{}, map[string]bool{}
	for i, p := range s.Ports {
		at := spec.Child("ports").Index(i)
		if p.Name == "" && len(s.Ports) > 1 {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if p.Name != "" && names[p.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
		names[p.Name] = true
		errs = append(errs, portErrors(p.Port, at.Child("port"))...)
		if p.TargetPort.Type == intstr.Int {
			errs = append(errs, portErrors(p.TargetPort.IntVal, at.Child("targetPort"))...)
		}
		if number := duplicatePort(p); numbers[number] {
			errs = append(errs, field.Duplicate(at, corev1.ServicePort{Protocol: p.Protocol, Port: p.Port}))
		} else {
			numbers[number] = true
		}
	}
	if s.Type == corev1.ServiceTypeExternalName && s.ExternalName == "" {
		errs = append(errs, field.Required(spec.Child("externalName"), ""))
	}
	return errs
}

func serviceUpdate(o, old *corev1.Service, spec *field.Path) field.ErrorList {
	if o.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	now, before := o.Spec.ClusterIPs, old.Spec.ClusterIPs
	var errs field.ErrorList
	switch {
	case len(now) == 0 && len(before) > 0:
		errs = append(errs, field.Invalid(spec.Child("clusterIPs").Index(0), now, "primary clusterIP can not be unset"))
	case len(now) > 0 && len(before) > 0 && now[0] != before[0]:
		errs = append(errs, field.Invalid(spec.Child("clusterIPs").Index(0), now, "may not change once set"))
	}
	return errs
}
