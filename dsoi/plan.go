package dsoi

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
)

// Plan returns the desired children of a cluster and its status. It is a [builder.PlanFunc].
func (a *App[C]) Plan(cluster C, view builder.View) builder.Plan[C] {
	if cluster.GetDeletionTimestamp() != nil {
		return terminating(cluster)
	}
	r := a.remembered(cluster)
	if len(r.problems) > 0 {
		return invalid(cluster, r.problems, view)
	}
	now := look(view, a.Scaling)
	plan := builder.Plan[C]{Rollout: r.rollout, Prune: pruned, Report: true, Finish: finish[C](view)}
	plan.Rollout.CompletedRevision = &cluster.ClusterStatus().Revision
	plan.Children = make([]builder.Child, 0, 4*len(r.nodes))
	states := make([]nodeState, len(r.nodes))
	for i, n := range r.nodes {
		health := a.health(n, now)
		states[i] = stateOf(n, now, health)
		plan.Children = n.children(plan.Children, now, health)
		plan.RequeueAfter = sooner(plan.RequeueAfter, health.again)
	}
	was, installed := view.Rollout()
	inOrder := installed && was.State != rollout.RolledBack // a rollback ends when all nodes are ready, and has no turns
	turn := turnOf(r, states)
	for i, n := range r.nodes {
		if states[i].misses != nil && (!inOrder || turn[n.node.NodeType]) {
			plan.Edits = append(plan.Edits, *states[i].misses)
		}
		// Without a set, claims of these names are someone else's, or will be. With another kind, the node abandons them.
		if n.node.Kind == statefulSet && now.statefulSets[n.node.Workload] != nil {
			plan.Edits = append(plan.Edits, growClaims(n, now.claims[LabelValue(n.node.Name)])...)
		}
	}
	plan.Status, plan.Events = a.report(cluster, r, states)
	return plan
}

// pruned are the kinds of which a cluster has nothing but what its spec says.
var pruned = []client.Object{
	&corev1.ConfigMap{}, &corev1.Service{}, &corev1.PersistentVolumeClaim{}, &policyv1.PodDisruptionBudget{},
	&appsv1.StatefulSet{}, &appsv1.Deployment{}, &appsv1.DaemonSet{},
}

// health says how the pods of a node fare.
func (a *App[C]) health(n *renderedNode, now *observed) ailment {
	workload := now.workload(n)
	if workload == nil {
		return ailment{}
	}
	health := healthOf(n.node.Name, workload, now.pods[LabelValue(n.node.Name)], now.now, a.stuckAfter())
	if wanted, has := replicas(n, now); !health.Failed && wanted != has {
		health.Unwell, health.Why = true, fmt.Sprintf("node %s: %d replicas; %d are described", n.node.Name, has, wanted)
	}
	return health
}

// children adds all that a node consists of.
func (n *renderedNode) children(to []builder.Child, now *observed, health ailment) []builder.Child {
	for _, c := range n.claims {
		to = append(to, sharedClaim(n, c, now.claim(n, c.Name)))
	}
	to = append(to, n.fixed...)
	workload := n.workload
	if set, ok := workload.Object().(*appsv1.StatefulSet); ok {
		if kept := keepTemplates(set, now.statefulSets[n.node.Workload]); kept != set {
			workload = builder.Want(kept, n.options...)
		}
	}
	if health.Unwell || health.Failed {
		ready := builder.ReadyWhen(health.of(now.workload(n)))
		workload = builder.Want(workload.Object(), append(slices.Clip(n.options), ready)...)
	}
	return append(to, workload)
}

// sooner returns the smaller of two times of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || (b > 0 && b < a) {
		return max(b, 0)
	}
	return a
}
