package fluxjob

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// AnnotationSpec is the annotation of a MiniCluster with a digest of the spec that it was created with. A MiniCluster of another digest,
// with the labels of another queue, or larger than what the job holds, isn't resumed for the next attempt, but deleted and recreated.
const AnnotationSpec = "api.practice.com/flux-spec"

// The labels of the pods of a job's MiniCluster and of its services. The MiniCluster gets them in spec.pod.labels when it is created, so
// the job recognises its pods also when the MiniCluster or its Job is gone, observed or not.
const (
	// LabelFluxJob is the label with the name of the FluxJob.
	LabelFluxJob = "api.practice.com/fluxjob"
	// LabelUID is the label with the UID of the FluxJob.
	LabelUID = "api.practice.com/fluxjob-uid"
)

// changeMiniCluster adds to a plan what a decision means for the MiniCluster. While the job holds nothing the MiniCluster stays suspended,
// so that a former one doesn't run again by itself.
func (p *pass) changeMiniCluster(plan *builder.Plan[*v1alpha1.FluxJob], o *observed, d decision) {
	switch {
	case d.action == actionRun:
		p.run(plan, o, d.admission)
	case d.action == actionEnd, d.action == actionStop && d.records:
	default:
		suspend(plan, o)
	}
}

// run creates the MiniCluster, or resumes it after an earlier attempt. One that is of an earlier spec or another queue, or was scaled
// beyond what the job holds, is deleted first, and one that runs stays as it is.
func (p *pass) run(plan *builder.Plan[*v1alpha1.FluxJob], o *observed, held *v1alpha1.FluxAdmission) {
	c := o.cluster
	switch {
	case c == nil || c.DeletionTimestamp != nil: // the builder creates it once the former one is gone
		plan.Children = []builder.Child{builder.Want(p.render(held), builder.CreateOnly())}
	case !c.Spec.Suspend:
	case p.isResumable(c, held):
		plan.Edits = append(plan.Edits, setSuspend(c, false))
	case o.podsGone():
		plan.Delete = append(plan.Delete, c)
	}
}

// isResumable reports whether a suspended MiniCluster may run for what the job holds.
func (p *pass) isResumable(c *v1alpha1.MiniCluster, held *v1alpha1.FluxAdmission) bool {
	return p.isOfSpec(c) && hasLabels(c, p.labels(held)) && p.isWithin(c, held)
}

// suspend suspends the MiniCluster if it may run.
func suspend(plan *builder.Plan[*v1alpha1.FluxJob], o *observed) {
	if o.runs() && !needs.IsOver(o.cluster) {
		plan.Edits = append(plan.Edits, setSuspend(o.cluster, true))
	}
}

func setSuspend(c *v1alpha1.MiniCluster, value bool) builder.Edit {
	after := c.DeepCopy()
	after.Spec.Suspend = value
	return builder.Edit{Before: c, After: after}
}

// isOfSpec reports whether a MiniCluster is what the spec and the present admission describe.
func (p *pass) isOfSpec(c *v1alpha1.MiniCluster) bool {
	return c.Annotations[AnnotationSpec] == origin.Digest(specOf(p.job, p.job.Status.Admission.Size))
}

// isWithin reports whether a MiniCluster can't grow beyond what the job holds. A user can scale or edit a suspended MiniCluster, which
// leaves the digest as it is.
func (p *pass) isWithin(c *v1alpha1.MiniCluster, held *v1alpha1.FluxAdmission) bool {
	return max(c.Spec.Size, c.Spec.MaxSize) <= needs.Most(p.job, held.Size)
}

// hasLabels reports whether a MiniCluster has exactly these of the labels that the operator sets. They aren't part of the digest, because a
// MiniCluster that runs would count as changed with another one.
func hasLabels(c *v1alpha1.MiniCluster, labels map[string]string) bool {
	for _, name := range []string{admission.LabelQueue, v1alpha1.LabelShard, v1alpha1.LabelKueueQueue, v1alpha1.LabelKueuePriority} {
		before, had := c.Labels[name]
		if after, has := labels[name]; before != after || had != has {
			return false
		}
	}
	return true
}

// labels returns the labels of the MiniCluster of a job that holds quota. The queue is the one that admitted the job: by now the job may
// name another one.
func (p *pass) labels(held *v1alpha1.FluxAdmission) map[string]string {
	labels := map[string]string{}
	copies := []string{v1alpha1.LabelShard}
	if held.Queue != "" {
		labels[admission.LabelQueue] = held.Queue
	} else {
		labels[v1alpha1.LabelKueueQueue] = p.job.Status.Queue
		copies = append(copies, v1alpha1.LabelKueuePriority)
	}
	for _, name := range copies {
		if value, ok := p.job.Labels[name]; ok {
			labels[name] = value
		}
	}
	return labels
}

// render returns the MiniCluster of a job that holds quota.
func (p *pass) render(held *v1alpha1.FluxAdmission) *v1alpha1.MiniCluster {
	spec := specOf(p.job, held.Size)
	digest := origin.Digest(spec)
	spec.Pod.Labels = podtemplate.Merge(map[string]string{LabelFluxJob: p.job.Name, LabelUID: string(p.job.UID)}, spec.Pod.Labels)
	return &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.job.Namespace, Name: p.job.Name,
			Labels:      p.labels(held),
			Annotations: map[string]string{AnnotationSpec: digest},
			// When the FluxJob is deleted, the garbage collector deletes the MiniCluster in the foreground: the MiniCluster stays until its
			// pods are gone, and so does the quota that the job holds.
			Finalizers: []string{metav1.FinalizerDeleteDependents},
		},
		Spec: *spec,
	}
}

// MiniClusterSpec returns the spec of a job's MiniCluster without a queue, which may set another size if the job sets none.
func MiniClusterSpec(job *v1alpha1.FluxJob) *v1alpha1.MiniClusterSpec {
	return specOf(job, needs.Size(job, nil))
}

// specOf returns the spec of a job's MiniCluster of a size.
func specOf(job *v1alpha1.FluxJob, size int32) *v1alpha1.MiniClusterSpec {
	spec := job.Spec.MiniCluster.DeepCopy()
	if spec == nil {
		container := v1alpha1.MiniClusterContainer{Image: job.Spec.Image, Command: job.Spec.Command}
		if r := job.Spec.Resources; r != nil {
			container.Resources = *r.DeepCopy()
		}
		spec = &v1alpha1.MiniClusterSpec{Containers: []v1alpha1.MiniClusterContainer{container}}
	}
	spec.Size = size
	if job.Spec.Tasks != nil {
		spec.Tasks = job.Spec.Tasks
	}
	if job.Spec.DeadlineSeconds != nil {
		spec.DeadlineSeconds = job.Spec.DeadlineSeconds
	}
	if job.Spec.BackoffLimit != nil {
		spec.BackoffLimit = job.Spec.BackoffLimit
	}
	return spec
}
