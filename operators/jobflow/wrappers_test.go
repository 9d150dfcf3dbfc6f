package jobflow

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

// makeFlow returns the JobFlow demo of these nodes.
func makeFlow(nodes ...v1alpha1.Flow) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "demo-uid", Generation: 1},
		Spec:       v1alpha1.JobFlowSpec{Flows: nodes},
	}
}

// node returns a node with an inline template.
func node(name string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: jobSpec()}
}

// nodeRef returns a node with a reference to a template.
func nodeRef(name, template string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplateRef: template}
}

func jobSpec() *batchv1.JobSpec {
	return &batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"true"}}},
	}}}
}

func jobTemplate(name string) *v1alpha1.JobTemplate {
	return &v1alpha1.JobTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       v1alpha1.JobTemplateSpec{JobTemplate: *jobSpec()},
	}
}

// volumes returns volumes of these names.
func volumes(names ...string) []corev1.Volume {
	var all []corev1.Volume
	for _, name := range names {
		all = append(all, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	return all
}

// mounts returns mounts of volumes of these names.
func mounts(names ...string) []corev1.VolumeMount {
	var all []corev1.VolumeMount
	for _, name := range names {
		all = append(all, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
	return all
}

// runningJob returns the Job of a node of demo as it is after its creation.
func runningJob(node string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo-" + node, CreationTimestamp: at(1)}}
}

func completeJob(node string) *batchv1.Job {
	job := runningJob(node)
	end := at(5)
	job.Status.CompletionTime = &end
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: at(6)}}
	return job
}

func failedJob(node string) *batchv1.Job {
	job := runningJob(node)
	job.Status.Conditions = []batchv1.JobCondition{{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: at(6),
		Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit",
	}}
	return job
}

// planOf returns the plan of a flow that observes these objects.
func planOf(flow *v1alpha1.JobFlow, objs ...client.Object) builder.Plan[*v1alpha1.JobFlow] {
	return Plan(flow, buildertest.NewView(at(10).Time, objs...))
}

// after returns the flow with the status of its plan.
func after(flow *v1alpha1.JobFlow, objs ...client.Object) *v1alpha1.JobFlow {
	if plan := planOf(flow, objs...); plan.Status != nil {
		return plan.Status
	}
	return flow
}

// states returns the nodes' states by name.
func states(flow *v1alpha1.JobFlow) map[string]v1alpha1.FlowState {
	m := map[string]v1alpha1.FlowState{}
	for _, s := range flow.Status.Flows {
		m[s.Name] = s.State
	}
	return m
}

// started returns the names of the Jobs that a plan wants.
func started(plan builder.Plan[*v1alpha1.JobFlow]) []string {
	var names []string
	for _, c := range plan.Children {
		names = append(names, c.Object().GetName())
	}
	return names
}

func condition(flow *v1alpha1.JobFlow, kind string) metav1.Condition {
	for _, c := range flow.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}
