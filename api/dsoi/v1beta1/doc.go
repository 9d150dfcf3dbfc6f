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
// A [ClusterSpec] describes a cluster by its nodes ([Node]), their node types, their Kubernetes configuration
// ([K8sConfigGroup]) and application configuration ([AppConfigGroup]), the order of upgrades of the node types, and the
// external dependencies. A [ScalingSpec] describes, in a separate kind, how nodes are scaled. The package
// github.com/armature-dev/armature/dsoi makes clusters of them.
//
// # Accepted variants
//
// DSOI's documents and examples contradict each other. Their variants are accepted if the meaning is unambiguous:
//
//   - Config groups may be a list of named groups, or a map from name to group; nodes a list of nodes with a node type,
//     or a map from node type to a list of nodes.
//   - Names that the documents have changed over time are names of the same field: k8sConfig and nodeK8sConfigGroup of
//     k8sConfigGroup; nodeAppConfigGroup and myAppConfigGroup of appConfigGroup; order and OrderForCreateUpdate of
//     deploymentOrder; in a node type of nodeType; in a group port of ports, volumeMount of volumeMounts, startUpProbe
//     of startupProbe, storageConfigs of storageConfig. Both at once are refused.
//   - A group of the application's configuration may have a scope, common or node, and a nodeType.
//   - In a node, the field that names the group of the application's configuration may have any name that ends in Config
//     or ConfigGroup (pinotNodeConfig, parseableConfigGroup). It is a name, or a list of names.
//   - A time is a number of seconds or a string such as "90s".
//
// A structural schema can't express "a list or a map", so these fields have no schema: the API server stores them
// without validation, and the operator reports invalid groups and nodes in a condition, with the accepted values.
// Decoding never fails, so that one invalid object can't keep an operator from reading all others; malformed JSON is
// kept ([Malformed]).
//
// +kubebuilder:object:generate=true
package v1beta1

//go:generate go tool -modfile=../../../tools/gen/go.mod controller-gen object paths=.
