package minicluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// planTerminating returns the plan of a cluster that is being deleted. Garbage collection deletes what it has.
func (p *pass) planTerminating() builder.Plan[*v1alpha1.MiniCluster] {
	s := p.c.Status.DeepCopy()
	s.State = v1alpha1.MiniClusterStateTerminating
	p.conditions(s).Terminate("MiniCluster")
	return p.withStatus(builder.Plan[*v1alpha1.MiniCluster]{}, s)
}

// planEnded returns the plan of a cluster that has ended: nothing runs any more, cleanup deletes the Job and the objects that its
// pods needed, and the cluster is deleted once ttlSecondsAfterFinished have passed.
func (p *pass) planEnded(o *observed) builder.Plan[*v1alpha1.MiniCluster] {
	s := p.c.Status.DeepCopy()
	p.conditions(s).Conclude()
	s.Size, s.ReadyPods = o.count(p.c)
	ttl := lifecycle.Expiry(s.CompletionTime, s.Conditions, p.c.Spec.TTLSecondsAfterFinished, p.now.Time)
	plan := builder.Plan[*v1alpha1.MiniCluster]{DeleteOwner: ttl.Due, RequeueAfter: ttl.Left}
	plan.Prune = []client.Object{&appsv1.Deployment{}} // the services
	if p.c.Spec.Cleanup {
		plan.Prune = append(plan.Prune, &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{})
		if o.job != nil && o.job.DeletionTimestamp == nil {
			plan.Delete = []client.Object{o.job}
		}
	}
	if s.ObservedGeneration != p.c.Generation {
		plan.Events = []events.Event{
			lifecycle.ChangeIgnored("cluster", s.State, "cleanup and ttlSecondsAfterFinished still take effect"),
		}
	}
	return p.withStatus(plan, s)
}
