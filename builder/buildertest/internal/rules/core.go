package rules

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

const podUpdateRule = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` " +
	"(allow it to be set to 1 if it was previously negative)"

// podUpdate allows changes of images, the deadline, tolerations and scheduling gates only.
func podUpdate(now, before *corev1.PodSpec, spec *field.Path) field.ErrorList {
	munged := now.DeepCopy()
	takeImages(before.Containers, munged.Containers)
	takeImages(before.InitContainers, munged.InitContainers)
	munged.ActiveDeadlineSeconds = before.ActiveDeadlineSeconds
	munged.SchedulingGates = before.SchedulingGates
	munged.Tolerations = before.Tolerations
	if same(munged, before) {
		return nil
	}
	return field.ErrorList{field.Forbidden(spec, podUpdateRule)}
}

func takeImages(from, into []corev1.Container) {
	if len(from) != len(into) {
		return
	}
	for i := range from {
		into[i].Image = from[i].Image
	}
}

func configMap(o *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for key, value := range o.Data {
		size += len(value)
		errs = append(errs, configKey(key, field.NewPath("data"))...)
		if _, ok := o.BinaryData[key]; ok {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
	}
	for key, value := range o.BinaryData {
		size += len(value)
		errs = append(errs, configKey(key, field.NewPath("binaryData"))...)
	}
	return append(errs, dataSize(size, field.NewPath(""))...)
}

func secret(o *corev1.Secret) field.ErrorList {
	size := 0
	for _, value := range o.Data {
		size += len(value)
	}
	return dataSize(size, field.NewPath("data"))
}

// dataSize limits the data of a ConfigMap or a Secret.
func dataSize(size int, path *field.Path) field.ErrorList {
	if size > corev1.MaxSecretSize {
		return field.ErrorList{field.TooLong(path, "", corev1.MaxSecretSize)}
	}
	return nil
}

func configKey(key string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Key(key), key, msg))
	}
	return errs
}

const sealed = "field is immutable when `immutable` is set"

func configMapUpdate(o, old *corev1.ConfigMap) field.ErrorList {
	if !ptr.Deref(old.Immutable, false) {
		return nil
	}
	var errs field.ErrorList
	if !ptr.Deref(o.Immutable, false) {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), sealed))
	}
	if !same(o.Data, old.Data) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), sealed))
	}
	if !same(o.BinaryData, old.BinaryData) {
		errs = append(errs, field.Forbidden(field.NewPath("binaryData"), sealed))
	}
	return errs
}

func secretUpdate(o, old *corev1.Secret) field.ErrorList {
	errs := unchanged(o.Type, old.Type, field.NewPath("type"))
	if !ptr.Deref(old.Immutable, false) {
		return errs
	}
	if !ptr.Deref(o.Immutable, false) {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), sealed))
	}
	if !same(o.Data, old.Data) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), sealed))
	}
	return errs
}

// claimUpdate allows a claim to be bound once and, when bound, to grow.
func claimUpdate(o, old *corev1.PersistentVolumeClaim, spec *field.Path) field.ErrorList {
	now, before := o.Spec.DeepCopy(), old.Spec.DeepCopy()
	if before.VolumeName == "" {
		before.VolumeName = now.VolumeName
	}
	if o.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = before.Resources.Requests[corev1.ResourceStorage]
		}
		now.VolumeAttributesClassName = before.VolumeAttributesClassName
	}
	var errs field.ErrorList
	if !same(now, before) {
		errs = append(errs, field.Forbidden(spec,
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"))
	}
	size, least := o.Spec.Resources.Requests.Storage(), old.Status.Capacity.Storage()
	if size.Cmp(*old.Spec.Resources.Requests.Storage()) < 0 && size.Cmp(*least) <= 0 {
		errs = append(errs, field.Forbidden(spec.Child("resources", "requests", "storage"), "field can not be less than status.capacity"))
	}
	return append(errs, unchanged(o.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
}

func budget(o *policyv1.PodDisruptionBudget, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.Spec.MinAvailable != nil && o.Spec.MaxUnavailable != nil {
		// The server's message contains the Go value, of the server's own type.
		errs = append(errs, field.Invalid(spec, reflect.TypeOf(o.Spec).Name(), "minAvailable and maxUnavailable cannot be both set"))
	}
	for name, value := range map[string]*int32{"minAvailable": intOf(o.Spec.MinAvailable), "maxUnavailable": intOf(o.Spec.MaxUnavailable)} {
		errs = append(errs, notNegative(value, spec.Child(name))...)
	}
	return errs
}

func portErrors(port int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsValidPortNum(int(port)) {
		errs = append(errs, field.Invalid(path, port, msg))
	}
	return errs
}

func duplicatePort(port corev1.ServicePort) string {
	return fmt.Sprintf("%s/%d", port.Protocol, port.Port)
}
