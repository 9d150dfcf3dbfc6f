package defaults

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func deployment(o *appsv1.Deployment) {
	s := &o.Spec
	setIfNil(&s.Replicas, 1)
	setIfZero(&s.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setIfNil(&s.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setIfNil(&s.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setIfNil(&s.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	setIfNil(&s.RevisionHistoryLimit, 10)
	setIfNil(&s.ProgressDeadlineSeconds, 600)
	podSpec(&s.Template.Spec)
}

func daemonSet(o *appsv1.DaemonSet) {
	s := &o.Spec
	setIfZero(&s.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setIfNil(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setIfNil(&s.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setIfNil(&s.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	setIfNil(&s.RevisionHistoryLimit, 10)
	podSpec(&s.Template.Spec)
}

func statefulSet(o *appsv1.StatefulSet) {
	s := &o.Spec
	setIfZero(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if s.UpdateStrategy.Type == "" {
		s.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		setIfNil(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if r := s.UpdateStrategy.RollingUpdate; r != nil && s.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setIfNil(&r.Partition, 0)
		setIfNil(&r.MaxUnavailable, intstr.FromInt32(1))
	}
	setIfNil(&s.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setIfZero(&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setIfZero(&s.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setIfNil(&s.Replicas, 1)
	setIfNil(&s.RevisionHistoryLimit, 10)
	for i := range s.VolumeClaimTemplates {
		claim(&s.VolumeClaimTemplates[i])
	}
	podSpec(&s.Template.Spec)
}

func job(o *batchv1.Job) {
	if labels := o.Spec.Template.Labels; labels != nil && len(o.Labels) == 0 {
		// The Job shares the template's map, as in the API server: labels that are later added to the template are the Job's too.
		o.Labels = labels
	}
	s := &o.Spec
	if s.Completions == nil && s.Parallelism == nil {
		setIfNil(&s.Completions, 1)
	}
	setIfNil(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		setIfNil(&s.BackoffLimit, math.MaxInt32)
	}
	setIfNil(&s.BackoffLimit, 6)
	setIfNil(&s.CompletionMode, batchv1.NonIndexedCompletion)
	setIfNil(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		setIfNil(&s.PodReplacementPolicy, batchv1.Failed)
	}
	setIfNil(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	setIfNil(&s.ManualSelector, false)
	jobTemplate(s)
}

// jobTemplate sets the defaults that a CronJob's template also gets.
func jobTemplate(s *batchv1.JobSpec) {
	if p := s.PodFailurePolicy; p != nil {
		for i := range p.Rules {
			for j := range p.Rules[i].OnPodConditions {
				setIfZero(&p.Rules[i].OnPodConditions[j].Status, corev1.ConditionTrue)
			}
		}
	}
	podSpec(&s.Template.Spec)
}

func cronJob(o *batchv1.CronJob) {
	s := &o.Spec
	setIfZero(&s.ConcurrencyPolicy, batchv1.AllowConcurrent)
	setIfNil(&s.Suspend, false)
	setIfNil(&s.SuccessfulJobsHistoryLimit, 3)
	setIfNil(&s.FailedJobsHistoryLimit, 1)
	jobTemplate(&s.JobTemplate.Spec)
}
