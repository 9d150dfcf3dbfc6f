package admission

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob"
)

// FluxJobPlan is the plan of FluxJobs, with what that of MiniClusters would say of theirs. A job whose MiniCluster is refused
// would wait for its turn only to end with that.
func FluxJobPlan(job *v1alpha1.FluxJob, seen builder.View) builder.Plan[*v1alpha1.FluxJob] {
	plan := fluxjob.Plan(job, seen)
	if plan.Status != nil && refusalIn(plan.Status) != "" {
		return plan
	}
	cluster := &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name, Generation: 1}, Spec: clusterSpec(job),
	}
	judged := MiniClusterPlan(cluster, seen)
	said := judged.Status
	if said == nil || refusalIn(said) == "" {
		for _, e := range judged.Events {
			if e.Reason == v1alpha1.ReasonFieldIgnored {
				plan.Events = append(plan.Events, events.Warning(e.Reason, "of the MiniCluster, "+e.Note))
			}
		}
		return plan
	}
	after := job.DeepCopy()
	meta.SetStatusCondition(&after.Status.Conditions, metav1.Condition{
		Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec,
		Message: "the MiniCluster is refused: " + refusalIn(said),
	})
	plan.Status = after
	return plan
}

// clusterSpec returns the spec of the MiniCluster that would be made of a job, as far as the job says it: the queue may
// choose another size, within its bounds.
func clusterSpec(job *v1alpha1.FluxJob) v1alpha1.MiniClusterSpec {
	spec := fluxjob.MiniClusterSpec(job)
	if template := job.Spec.MiniCluster; job.Spec.Size == nil && (template == nil || template.Size <= 1) {
		spec.Tasks = nil // how many fit depends on the size
	}
	return *spec
}
