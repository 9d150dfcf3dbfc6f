package rules

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podTemplate checks a template. The API server's paths of labels and annotations don't contain "metadata".
func podTemplate(t *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := inOrder(metav1validation.ValidateLabels(t.Labels, path.Child("labels")))
	errs = append(errs, inOrder(validation.ValidateAnnotations(t.Annotations, path.Child("annotations")))...)
	return append(errs, podSpec(&t.Spec, path.Child("spec"))...)
}

// inOrder sorts the errors of a map's entries, which come in a random order, because a run of the server must be repeatable.
func inOrder(errs field.ErrorList) field.ErrorList {
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

func podSpec(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	mountable, errs := volumes(s.Volumes, path.Child("volumes"))
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	names := map[string]bool{}
	for i := range s.Containers {
		errs = append(errs, container(&s.Containers[i], names, mountable, path.Child("containers").Index(i))...)
		names[s.Containers[i].Name] = true
	}
	for i := range s.InitContainers {
		errs = append(errs, container(&s.InitContainers[i], names, mountable, path.Child("initContainers").Index(i))...)
		if name := s.InitContainers[i].Name; name != "" {
			names[name] = true
		}
	}
	return errs
}

// volumes checks a Pod's volumes, and returns the names of those that containers can mount: those without an error.
func volumes(all []corev1.Volume, path *field.Path) (map[string]bool, field.ErrorList) {
	mountable := map[string]bool{}
	var errs field.ErrorList
	for i := range all {
		name, at := all[i].Name, path.Index(i).Child("name")
		found := dnsLabel(name, at)
		if mountable[name] {
			found = append(found, field.Duplicate(at, name))
		}
		if len(found) == 0 {
			mountable[name] = true
		}
		errs = append(errs, found...)
	}
	return mountable, errs
}

// container checks a container beside others with these names.
func container(c *corev1.Container, others, mountable map[string]bool, path *field.Path) field.ErrorList {
	errs := dnsLabel(c.Name, path.Child("name"))
	if c.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	errs = append(errs, containerPorts(c.Ports, path.Child("ports"))...)
	errs = append(errs, volumeMounts(c.VolumeMounts, mountable, path.Child("volumeMounts"))...)
	if others[c.Name] {
		errs = append(errs, field.Duplicate(path.Child("name"), c.Name))
	}
	return errs
}

func containerPorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	names := map[string]bool{}
	var errs field.ErrorList
	for i, p := range ports {
		at := path.Index(i)
		if msgs := utilvalidation.IsValidPortName(p.Name); p.Name != "" && len(msgs) > 0 {
			for _, msg := range msgs {
				errs = append(errs, field.Invalid(at.Child("name"), p.Name, msg))
			}
		} else if p.Name != "" && names[p.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		} else {
			names[p.Name] = true
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, portErrors(p.ContainerPort, at.Child("containerPort"))...)
		}
		if p.HostPort != 0 {
			errs = append(errs, portErrors(p.HostPort, at.Child("hostPort"))...)
		}
	}
	return errs
}

func volumeMounts(mounts []corev1.VolumeMount, mountable map[string]bool, path *field.Path) field.ErrorList {
	paths := map[string]bool{}
	var errs field.ErrorList
	for i, m := range mounts {
		at := path.Index(i)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if !mountable[m.Name] {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if paths[m.MountPath] {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		paths[m.MountPath] = true
	}
	return errs
}

func dnsLabel(value string, path *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, msg := range utilvalidation.IsDNS1123Label(value) {
		errs = append(errs, field.Invalid(path, value, msg))
	}
	return errs
}
