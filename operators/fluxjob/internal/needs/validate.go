package needs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// maxResources is how many resources a job may name. A FluxSetup's status records each of them in the job's reservation, and must stay
// below the size limit of the API server.
const maxResources = 32

// Problems returns what keeps a job from ever being admitted as it is. What the CRD's own rules can say is refused by
// the API server already; of that only what the plans rely on is said here again.
func Problems(job *v1alpha1.FluxJob) field.ErrorList {
	var errs field.ErrorList
	switch {
	case job.Spec.Image == "" && job.Spec.MiniCluster == nil:
		return field.ErrorList{field.Required(field.NewPath("spec", "image"), "exactly one of image and miniCluster must be set")}
	case job.Spec.Image != "" && job.Spec.MiniCluster != nil:
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "image"), "exactly one of image and miniCluster must be set")}
	}
	if Kueue(job) != "" && job.Spec.Queue != "" {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "queue"), fmt.Sprintf(
			"the label %s makes Kueue the queue: take the label off, or leave this out", v1alpha1.LabelKueueQueue)))
	}
	eachResources(&job.Spec, func(of string, i int, r *corev1.ResourceRequirements) {
		errs = append(errs, validateList(of, i, "requests", r.Requests)...)
		errs = append(errs, validateList(of, i, "limits", r.Limits)...)
	})
	errs = append(errs, tooManyResources(&job.Spec)...)
	template := job.Spec.MiniCluster
	if template == nil {
		return errs
	}
	if _, ok := template.JobLabels[v1alpha1.LabelKueueQueue]; ok {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "miniCluster", "jobLabels").Key(v1alpha1.LabelKueueQueue),
			"the job would wait for two queues: give the label to the FluxJob itself, and leave spec.queue out"))
	}
	errs = append(errs, validateList("miniCluster.pod", -1, "", template.Pod.Resources)...)
	if size := job.Spec.Size; size != nil {
		path := field.NewPath("spec", "size")
		if template.MaxSize > 0 && *size > template.MaxSize {
			errs = append(errs, field.Invalid(path, *size, fmt.Sprintf("must be at most miniCluster.maxSize, %d", template.MaxSize)))
		}
		if *size < template.MinSize {
			errs = append(errs, field.Invalid(path, *size, fmt.Sprintf("must be at least miniCluster.minSize, %d", template.MinSize)))
		}
	}
	return errs
}

// Refused reports whether the job's MiniCluster was refused for the spec that the job still has: it doesn't return to the queue
// with that.
func Refused(job *v1alpha1.FluxJob) bool {
	last, requested := job.Status.LastEviction, lifecycle.Condition(job.Status.Conditions, v1alpha1.ConditionJobRequested)
	return last != nil && last.Reason == v1alpha1.ReasonInvalidSpec &&
		requested.Reason == v1alpha1.ReasonInvalidSpec && requested.ObservedGeneration == job.Generation
}

// validateList refuses names that no resource can have, and amounts that would add to a quota instead of using it, of the i-th of some
// containers (-1: there is one).
func validateList(of string, i int, which string, list corev1.ResourceList) field.ErrorList {
	path := field.NewPath(strings.TrimSuffix("spec."+of, "."))
	if i >= 0 {
		path = path.Index(i)
	}
	path = path.Child("resources")
	if which != "" {
		path = path.Child(which)
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if problems := validation.IsQualifiedName(string(name)); len(problems) > 0 {
			errs = append(errs, field.Invalid(path, string(name), strings.Join(problems, "; ")))
		}
		if q := list[name]; q.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), q.String(), "must be greater than or equal to 0"))
		}
	}
	return errs
}

// tooManyResources refuses more than maxResources different resources.
func tooManyResources(spec *v1alpha1.FluxJobSpec) field.ErrorList {
	n := len(resourceNames(spec))
	if n <= maxResources {
		return nil
	}
	path, accepted := field.NewPath("spec", "resources"), fmt.Sprintf("must name at most %d different resources", maxResources)
	if spec.MiniCluster != nil {
		path, accepted = field.NewPath("spec", "miniCluster"), accepted+", in its containers, services and pod together"
	}
	return field.ErrorList{field.Invalid(path, n, accepted)}
}

// eachResources calls f with what each container of a job requests, and where that is in the spec.
func eachResources(spec *v1alpha1.FluxJobSpec, f func(of string, i int, r *corev1.ResourceRequirements)) {
	if spec.Resources != nil {
		f("", -1, spec.Resources)
	}
	template := spec.MiniCluster
	if template == nil {
		return
	}
	for i := range template.Containers {
		f("miniCluster.containers", i, &template.Containers[i].Resources)
	}
	for i := range template.Services {
		f("miniCluster.services", i, &template.Services[i].Resources)
	}
	f("miniCluster.flux.container", -1, &template.Flux.Container.Resources)
}
