package admission

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

// FluxJobPlan is the plan of FluxJobs, with what that of MiniClusters would say of theirs. A job whose MiniCluster is refused
// would wait for its turn only to end with that.
func FluxJobPlan(job *v1alpha1.FluxJob, seen builder.View) builder.Plan[*v1alpha1.FluxJob] {
	plan := fluxjob.Plan(job, seen)
	if job.Spec.MiniCluster == nil || (plan.Status != nil && refusalIn(plan.Status) != "") {
		return plan
	}
	cluster := &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name, Generation: 1},
		Spec:       *job.Spec.MiniCluster.DeepCopy(),
	}
	cluster.Spec.Size = max(needs.Of(job, nil).Size, cluster.Spec.MinSize) // the queue may have another, within these bounds
	if most := cluster.Spec.MaxSize; most > 0 {
		cluster.Spec.Size = min(cluster.Spec.Size, most)
	}
	said := MiniClusterPlan(cluster, seen).Status
	if said == nil || refusalIn(said) == "" {
		return plan
	}
	after := job.DeepCopy()
	meta.SetStatusCondition(&after.Status.Conditions, metav1.Condition{
		Type: builder.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec,
		Message: "the MiniCluster is refused: " + refusalIn(said),
	})
	plan.Status = after
	return plan
}
