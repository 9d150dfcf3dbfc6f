package dsoi

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
)

// The number of a node's pods is no part of what is rolled out and kept as a revision: it goes by the spec today and by a
// Scaling tomorrow, and neither that nor a new number is an upgrade. A workload gets it when it is created; from then on
// it is edited, unless a Scaling looks after it. That waits for its turn as other changes do.

// replicas returns how many pods a node's workload should have, and how many it has. They are the same if there is no
// workload, or its number is others' business.
func replicas(n *renderedNode, now *observed) (wanted, has int32) {
	wanted = ptr.Deref(n.node.Replicas, 1)
	has = wanted
	switch w := now.workload(n).(type) {
	case *appsv1.StatefulSet:
		has = ptr.Deref(w.Spec.Replicas, 1)
	case *appsv1.Deployment:
		has = ptr.Deref(w.Spec.Replicas, 1)
	}
	if now.isScaled(n) {
		wanted = has
	}
	return wanted, has
}

// resized is the edit that gives a workload another number of pods; nil if it is about to go.
func resized(workload client.Object, n int32) *builder.Edit {
	if workload.GetDeletionTimestamp() != nil {
		return nil
	}
	after := workload.DeepCopyObject().(client.Object)
	switch w := after.(type) {
	case *appsv1.StatefulSet:
		w.Spec.Replicas = &n
	case *appsv1.Deployment:
		w.Spec.Replicas = &n
	}
	return &builder.Edit{Before: workload, After: after}
}

// turnOf says of which node types it is the turn: those before them are ready, and none of their own nodes has yet to be
// changed otherwise.
func turnOf(r *rendered, states []nodeState) map[string]bool {
	pending, ready := map[string]bool{}, map[string]bool{}
	for _, name := range r.order {
		ready[name] = true
	}
	for i, n := range r.nodes {
		name := n.node.NodeType
		pending[name] = pending[name] || states[i].state == v1beta1.NodeTypePending
		ready[name] = ready[name] && states[i].state == v1beta1.NodeTypeReady
	}
	turn := map[string]bool{}
	for _, name := range r.order {
		turn[name] = !pending[name]
		if !ready[name] {
			break
		}
	}
	return turn
}
