// Package v1beta1 has the terms of the Distributed Systems Operator Interface (DSOI,
// https://github.com/datainfrahq/dsoi-spec) as types to embed in a kind of your own:
//
//	type PinotSpec struct {
//		v1beta1.ClusterSpec `json:",inline"`
//	}
//
//	type Pinot struct {
//		metav1.TypeMeta   `json:",inline"`
//		metav1.ObjectMeta `json:"metadata,omitempty"`
//		Spec              PinotSpec             `json:"spec"`
//		Status            v1beta1.ClusterStatus `json:"status,omitempty"`
//	}
//
// A [ClusterSpec] describes a cluster by its nodes: which there are ([Node]), of which node type, with which
// Kubernetes configuration ([K8sConfigGroup]) and which configuration of the application ([AppConfigGroup]), in which
// order node types are upgraded, and what it depends on. A [ScalingSpec] describes, in a kind of its own, how nodes are
// scaled. The package github.com/armature-dev/armature/dsoi makes clusters of them.
//
// # What is accepted
//
// DSOI's documents and examples contradict each other. What they show is accepted, where one can tell what is meant:
//
//   - Config groups may be a list of groups that have names, or a map from name to group; nodes a list of nodes that
//     have a node type, or a map from node type to a list of nodes.
//   - Names that the documents have changed over time are names of the same field: k8sConfig and nodeK8sConfigGroup of
//     k8sConfigGroup; nodeAppConfigGroup and myAppConfigGroup of appConfigGroup; order and OrderForCreateUpdate of
//     deploymentOrder; in a node type of nodeType; in a group port of ports, volumeMount of volumeMounts, startUpProbe
//     of startupProbe, storageConfigs of storageConfig. Both at once are refused.
//   - A group of the application's configuration may have a scope, common or node, and a nodeType.
//   - In a node, the field that names the group of the application's configuration may be called as the application
//     likes, if the name ends in Config or ConfigGroup (pinotNodeConfig, parseableConfigGroup). It is a name, or a list
//     of names.
//   - A time is a number of seconds or a text such as "90s".
//
// Because a structural schema can't say "a list or a map", these fields have none: the API server stores them as they
// are, and it is the operator that says, in a condition, which group or node is wrong and what would be accepted. To
// decode them never fails, so that one wrong object can't keep an operator from reading all others; what can't be read
// is kept ([Malformed]).
//
// +kubebuilder:object:generate=true
package v1beta1

//go:generate go tool -modfile=../../../tools/gen/go.mod controller-gen object paths=.
