package replicajob

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

type option func(*v1alpha1.ReplicaJob)

// makeJob returns the ReplicaJob demo.
func makeJob(options ...option) *v1alpha1.ReplicaJob {
	j := &v1alpha1.ReplicaJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "demo-uid", Generation: 1},
		Spec:       v1alpha1.ReplicaJobSpec{ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{}},
	}
	for _, o := range options {
		o(j)
	}
	return j
}

// started is the option of a job whose start is recorded.
func started(j *v1alpha1.ReplicaJob) { j.Status.StartTime = new(metav1.NewTime(epoch)) }

// replicas adds a type.
func replicas(t v1alpha1.ReplicaType, n int32, change ...func(*v1alpha1.ReplicaSpec)) option {
	return func(j *v1alpha1.ReplicaJob) {
		spec := v1alpha1.ReplicaSpec{Replicas: new(n), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"true"}}},
		}}}
		for _, f := range change {
			f(&spec)
		}
		j.Spec.ReplicaSpecs[t] = spec
	}
}

func restart(policy v1alpha1.ReplicaRestartPolicy) func(*v1alpha1.ReplicaSpec) {
	return func(s *v1alpha1.ReplicaSpec) { s.RestartPolicy = policy }
}

type rule = v1alpha1.FailureRule

func rules(rules ...rule) option {
	return func(j *v1alpha1.ReplicaJob) { j.Spec.FailurePolicy = &v1alpha1.ReplicaFailurePolicy{Rules: rules} }
}

func success(rule v1alpha1.SuccessRule, types ...v1alpha1.ReplicaType) option {
	return func(j *v1alpha1.ReplicaJob) {
		j.Spec.SuccessPolicy = &v1alpha1.ReplicaSuccessPolicy{Rule: rule, ReplicaTypes: types}
	}
}

func gang(policy v1alpha1.SchedulingPolicy) option {
	return func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.SchedulingPolicy = &policy }
}

// podsOf returns a job's pods as the operator creates them, changed.
func podsOf(job *v1alpha1.ReplicaJob, change ...func(*corev1.Pod)) []client.Object {
	p := ReplicaJobs.passOf(job, buildertest.NewView(epoch))
	var pods []client.Object
	for r := range p.observe(buildertest.NewView(epoch)).replicas() {
		pod := p.render(r.group, r.index)
		for _, f := range change {
			f(pod)
		}
		pods = append(pods, pod)
	}
	return pods
}

func ready(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func end(p *corev1.Pod, code int32, at metav1.Time) {
	p.Status.Phase = corev1.PodSucceeded
	reason := "Completed"
	if code != 0 {
		p.Status.Phase, reason = corev1.PodFailed, "Error"
	}
	p.Status.Conditions = nil
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: at},
	}}}
}

func condition(job *v1alpha1.ReplicaJob, kind string) metav1.Condition {
	return lifecycle.Condition(job.Status.Conditions, kind)
}

func label(p *corev1.Pod, key string) int {
	n, err := strconv.Atoi(p.Labels[key])
	if err != nil {
		return -1
	}
	return n
}
