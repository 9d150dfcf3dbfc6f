package fluxjob

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

// AnnotationSpec is the annotation of a MiniCluster with a digest of the spec that it was made with. When that of the
// next run is another, a new one takes its place.
const AnnotationSpec = "api.practice.com/flux-spec"

// work lets the MiniCluster run: it is made, or resumed after an earlier run. One that runs is left as it is.
func (p *step) work() {
	switch c := p.cluster; {
	case c == nil || c.DeletionTimestamp != nil: // it is made anew once it is gone
		p.plan.Children = []builder.Child{builder.Want(p.render(), builder.CreateOnly())}
	case !c.Spec.Suspend:
		p.tellOfChange()
	case c.Annotations[AnnotationSpec] == p.render().Annotations[AnnotationSpec]:
		p.suspend(false)
	case p.podsGone():
		p.plan.Delete = append(p.plan.Delete, c)
	}
	p.follow()
}

// stop suspends the MiniCluster, if there is one that isn't suspended and has not ended.
func (p *step) stop() {
	if c := p.cluster; c != nil && c.DeletionTimestamp == nil && !isOver(c) && !c.Spec.Suspend {
		p.suspend(true)
	}
}

func (p *step) suspend(value bool) {
	after := p.cluster.DeepCopy()
	after.Spec.Suspend = value
	p.plan.Edits = append(p.plan.Edits, builder.Edit{Before: p.cluster, After: after})
}

// render returns the job's MiniCluster.
func (p *step) render() *v1alpha1.MiniCluster {
	spec := p.job.Spec.MiniCluster.DeepCopy()
	if spec == nil {
		container := v1alpha1.MiniClusterContainer{Image: p.job.Spec.Image, Command: p.job.Spec.Command}
		if r := p.job.Spec.Resources; r != nil {
			container.Resources = *r.DeepCopy()
		}
		spec = &v1alpha1.MiniClusterSpec{Containers: []v1alpha1.MiniClusterContainer{container}}
	}
	spec.Size = p.status.Admission.Size
	if p.job.Spec.Tasks != nil {
		spec.Tasks = p.job.Spec.Tasks
	}
	if p.job.Spec.DeadlineSeconds != nil {
		spec.DeadlineSeconds = p.job.Spec.DeadlineSeconds
	}
	if p.job.Spec.BackoffLimit != nil {
		spec.BackoffLimit = p.job.Spec.BackoffLimit
	}
	cluster := &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.job.Namespace, Name: p.job.Name,
			Labels:      map[string]string{},
			Annotations: map[string]string{AnnotationSpec: digest(spec)},
			// When the FluxJob is deleted, the garbage collector deletes the MiniCluster in the foreground: it stays until
			// its pods are gone, and so does what the job holds of the quota.
			Finalizers: []string{metav1.FinalizerDeleteDependents},
		},
		Spec: *spec,
	}
	if name := p.status.Admission.Queue; name != "" {
		cluster.Labels[admission.LabelQueue] = name
	}
	if shard, ok := p.job.Labels[v1alpha1.LabelShard]; ok {
		cluster.Labels[v1alpha1.LabelShard] = shard
	}
	if needs.Kueue(p.job) != "" {
		for _, name := range []string{v1alpha1.LabelKueueQueue, v1alpha1.LabelKueuePriority} {
			if value, ok := p.job.Labels[name]; ok {
				cluster.Labels[name] = value
			}
		}
	}
	return cluster
}

// digest returns a digest of a spec.
func digest(spec *v1alpha1.MiniClusterSpec) string {
	text, err := json.Marshal(spec)
	if err != nil { // there is nothing in it that JSON can't say
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
