package rules

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

var jobRestartPolicies = []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}

// selected checks that a Job selects its own Pods.
func selected(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	selector, err := metav1.LabelSelectorAsSelector(s.Selector)
	if err == nil && s.Selector != nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		return field.ErrorList{field.Invalid(spec.Child("template", "metadata", "labels"), s.Template.Labels,
			"`selector` does not match template `labels`")}
	}
	return nil
}

func job(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	errs := notNegative(s.Parallelism, spec.Child("parallelism"))
	errs = append(errs, notNegative(s.Completions, spec.Child("completions"))...)
	errs = append(errs, notNegative(s.ActiveDeadlineSeconds, spec.Child("activeDeadlineSeconds"))...)
	errs = append(errs, notNegative(s.BackoffLimit, spec.Child("backoffLimit"))...)
	errs = append(errs, notNegative(s.TTLSecondsAfterFinished, spec.Child("ttlSecondsAfterFinished"))...)
	if ptr.Deref(s.CompletionMode, "") == batchv1.IndexedCompletion && s.Completions == nil {
		errs = append(errs, field.Required(spec.Child("completions"), "when completion mode is Indexed"))
	}
	errs = append(errs, jobPolicies(s, spec)...)
	errs = append(errs, podTemplate(&s.Template, spec.Child("template"))...)
	path := spec.Child("template", "spec")
	switch s.Template.Spec.RestartPolicy {
	case corev1.RestartPolicyOnFailure:
		if s.PodFailurePolicy != nil {
			errs = append(errs, field.Invalid(path.Child("restartPolicy"), s.Template.Spec.RestartPolicy,
				`only "Never" is supported when podFailurePolicy is specified`))
		}
	case corev1.RestartPolicyNever:
	case corev1.RestartPolicyAlways, "":
		errs = append(errs, field.Required(path.Child("restartPolicy"), `valid values: "OnFailure", "Never"`))
	default:
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), s.Template.Spec.RestartPolicy, jobRestartPolicies))
	}
	return errs
}

// jobLabels checks that the template has the labels that the server generates. A template copied from another Job has that Job's.
func jobLabels(o *batchv1.Job, spec *field.Path) field.ErrorList {
	if ptr.Deref(o.Spec.ManualSelector, false) {
		return nil
	}
	var errs field.ErrorList
	path := spec.Child("template", "metadata", "labels")
	for _, label := range []struct{ key, value string }{
		{"controller-uid", string(o.UID)}, {"job-name", o.Name},
		{batchv1.ControllerUidLabel, string(o.UID)}, {batchv1.JobNameLabel, o.Name},
	} {
		if o.Spec.Template.Labels[label.key] != label.value {
			errs = append(errs, field.Invalid(path.Key(label.key), o.Spec.Template.Labels, fmt.Sprintf("must be '%s'", label.value)))
		}
	}
	return errs
}

// indexedName checks that the hostnames of an indexed Job's Pods, which are its name and an index, are DNS labels.
func indexedName(o *batchv1.Job) field.ErrorList {
	if ptr.Deref(o.Spec.CompletionMode, "") != batchv1.IndexedCompletion || ptr.Deref(o.Spec.Completions, 0) <= 0 {
		return nil
	}
	last := fmt.Sprintf("%s-%d", o.Name, *o.Spec.Completions-1)
	if len(validation.IsDNS1123Label(last)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), o.Name,
		"will not able to create pod with invalid DNS label: "+last)}
}

const maxCronJobName = 52 // a Job's name is that of its CronJob with a suffix of 11 characters, and has at most 63

func cronJobName(o *batchv1.CronJob) field.ErrorList {
	if len(o.Name) <= maxCronJobName {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), o.Name,
		fmt.Sprintf("must be no more than %d characters", maxCronJobName))}
}

func cronJob(o *batchv1.CronJob, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.Spec.Schedule == "" {
		errs = append(errs, field.Required(spec.Child("schedule"), ""))
	}
	errs = append(errs, notNegative(o.Spec.StartingDeadlineSeconds, spec.Child("startingDeadlineSeconds"))...)
	errs = append(errs, notNegative(o.Spec.SuccessfulJobsHistoryLimit, spec.Child("successfulJobsHistoryLimit"))...)
	errs = append(errs, notNegative(o.Spec.FailedJobsHistoryLimit, spec.Child("failedJobsHistoryLimit"))...)
	return append(errs, job(&o.Spec.JobTemplate.Spec, spec.Child("jobTemplate", "spec"))...)
}

func jobUpdate(o, old *batchv1.Job, spec *field.Path) field.ErrorList {
	now, before := &o.Spec, &old.Spec
	var errs field.ErrorList
	if ptr.Deref(now.CompletionMode, "") != batchv1.IndexedCompletion {
		errs = append(errs, unchanged(now.Completions, before.Completions, spec.Child("completions"))...)
	} else if now.Completions != nil && !same(now.Completions, before.Completions) && *now.Completions != ptr.Deref(now.Parallelism, 0) {
		errs = append(errs, field.Invalid(spec.Child("completions"), now.Completions, "can only be modified in tandem with spec.parallelism"))
	}
	errs = append(errs, unchanged(now.Selector, before.Selector, spec.Child("selector"))...)
	errs = append(errs, jobTemplateUpdate(o, old, spec)...)
	errs = append(errs, unchanged(now.CompletionMode, before.CompletionMode, spec.Child("completionMode"))...)
	errs = append(errs, unchanged(now.PodFailurePolicy, before.PodFailurePolicy, spec.Child("podFailurePolicy"))...)
	errs = append(errs, unchanged(now.BackoffLimitPerIndex, before.BackoffLimitPerIndex, spec.Child("backoffLimitPerIndex"))...)
	errs = append(errs, unchanged(now.ManagedBy, before.ManagedBy, spec.Child("managedBy"))...)
	return append(errs, unchanged(now.SuccessPolicy, before.SuccessPolicy, spec.Child("successPolicy"))...)
}

// jobTemplateUpdate allows changes of the scheduling and the resources of a suspended Job without Pods.
func jobTemplateUpdate(o, old *batchv1.Job, spec *field.Path) field.ErrorList {
	now := &o.Spec.Template
	suspended := ptr.Deref(old.Spec.Suspend, false)
	if !suspended {
		return unchanged(*now, old.Spec.Template, spec.Child("template"))
	}
	if !isIdle(old) {
		return unchanged(*now, old.Spec.Template, spec.Child("template"))
	}
	before := old.Spec.Template.DeepCopy()
	before.Labels, before.Annotations = now.Labels, now.Annotations
	before.Spec.NodeSelector, before.Spec.Tolerations = now.Spec.NodeSelector, now.Spec.Tolerations
	before.Spec.SchedulingGates = now.Spec.SchedulingGates
	before.Spec.Affinity = withNodeAffinityOf(now.Spec.Affinity, before.Spec.Affinity)
	takeResources(now.Spec.Containers, before.Spec.Containers)
	takeResources(now.Spec.InitContainers, before.Spec.InitContainers)
	return unchanged(now.Spec, before.Spec, spec.Child("template.spec"))
}

func isIdle(j *batchv1.Job) bool {
	if j.Status.Active > 0 {
		return false
	}
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return j.Status.StartTime == nil
}

func withNodeAffinityOf(now, before *corev1.Affinity) *corev1.Affinity {
	result := ptr.Deref(before.DeepCopy(), corev1.Affinity{})
	result.NodeAffinity = ptr.Deref(now, corev1.Affinity{}).NodeAffinity
	if now == nil && result == (corev1.Affinity{}) {
		return nil
	}
	return &result
}

func takeResources(from, into []corev1.Container) {
	if len(from) != len(into) {
		return
	}
	for i := range from {
		if from[i].Name == into[i].Name {
			into[i].Resources = from[i].Resources
		}
	}
}
