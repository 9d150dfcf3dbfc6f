// Package dsoi makes clusters of what is described in the terms of the Distributed Systems Operator Interface (package
// [github.com/armature-dev/armature/api/dsoi/v1beta1]): nodes, config groups, an order of deployment.
//
// # A whole operator
//
// Embed the terms in a kind of yours, say which methods return them, and describe what is particular to the
// application:
//
//	var app = &dsoi.App[*v1.KVStore]{
//		Name: "kvstore",
//		Pod: func(store *v1.KVStore, node dsoi.Node, pod *corev1.PodTemplateSpec) {
//			pod.Spec.Containers[0].Command = []string{"kvstore", node.NodeType}
//		},
//	}
//
//	err := app.Setup(mgr)
//
// With an operator of your own, [App.Plan] is the plan; a plan of yours may call it and add to what it returns.
//
// # What a node becomes
//
//	ConfigMap <cluster>-<node>-config      the files of its configuration; their digest is in the pods
//	StatefulSet, Deployment or DaemonSet   <cluster>-<node>
//	Service <cluster>-<node>-headless      of a StatefulSet
//	Service <cluster>-<node>               if the group has one
//	PodDisruptionBudget <cluster>-<node>   if the group has one
//	PersistentVolumeClaims                 of a StatefulSet one for each pod, <storage>-<cluster>-<node>-<index>;
//	                                       of others one for all pods, <cluster>-<node>-<storage>
//
// All have labels for cluster, node and node type; pods are selected by cluster and node, so that no selector matches
// another node's. What the spec no longer has is deleted, but for claims, which are kept unless reclaim is Delete.
//
// # How it is changed
//
// Node types are the phases of a builder.Plan: the first install is in parallel, a change goes node type by node type in
// deploymentOrder and touches only the types that it changes. A node type is done when its workloads are ready
// (package readiness) and none of its pods has just crashed. A pod of the newest revision that can't start,
// keeps crashing, or isn't ready for [App].StuckAfter halts the upgrade: the conditions and the event RolloutHalted name
// node, pod and reason, and later node types stay as they are. What happens then, onFailure says.
//
// docs/dsoi.md has the rest: what is accepted, what happens to a change during an upgrade, the permissions.
//
// The files follow the thought:
//
//	app.go, setup.go                  what an application says of itself; what is watched
//	description.go, validate.go       one field of several names; what is wrong with a spec
//	render.go, config.go, pod.go,     a node as objects: all that follows from the spec, remembered by generation
//	workload.go, service.go,
//	podcheck.go
//	look.go, claims.go, scaling.go,   what exists, and what of it is left as it is
//	replicas.go
//	health.go                         how pods fare
//	plan.go, status.go, tell.go       what should be, how far it is, what is new
package dsoi
