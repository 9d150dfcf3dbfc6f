package v1beta1

// ClusterSpec describes a distributed system by its nodes. Embed it inline in the spec of your own kind.
//
// The engine doesn't carry out a part of an invalid description (a missing group, an order with an unknown node type):
// the conditions Ready and Stalled, with the reason InvalidSpec, list each error, and nothing changes until it is fixed.
type ClusterSpec struct {
	// External are the external dependencies of the cluster (zookeeper, metadataStore, deepStorage): a map from name to
	// spec, each with any fields, at "spec" or directly. Each node's pods receive it as a file external-<name>.json of
	// the node's ConfigMap, so that a change rolls all nodes, in order.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	External Externals `json:"external,omitempty"`

	// DeploymentOrder lists the node types in the order in which an upgrade changes them. It must contain each node type
	// of nodes exactly once, and each must have a node. The first install is parallel. A change of the order alone
	// causes no upgrade; during an upgrade the new order applies from then on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	DeploymentOrder []string `json:"deploymentOrder,omitempty"`

	// K8sConfigGroup are the Kubernetes configurations of pods: image, resources, volumes and so on; a node names its
	// own. A list of named groups, or a map from name to group. Fields of a group: name, image, imagePullPolicy,
	// serviceAccountName, env, ports, livenessProbe, readinessProbe, startupProbe, minReadySeconds, resources, volumes,
	// volumeMounts, storageConfig, service, nodeSelector, tolerations, affinity, podMetadata, securityContext,
	// containerSecurityContext, updateStrategy, podDisruptionBudget. An unknown field is refused. The groups of all nodes, each
	// counted for each node that names it, take at most 8 MiB together, as JSON and 64 bytes for each object in it.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	K8sConfigGroup K8sConfigGroups `json:"k8sConfigGroup,omitempty"`

	// AppConfigGroup are the application's own configurations; a node names those that it has. A list of named groups,
	// or a map from name to group. Fields of a group: name, scope, nodeType, data, files, commonRuntimeProperties,
	// runtimeProperties, overrideProperties; and the additional fields of the application's operator. The ConfigMap that
	// becomes of a node's groups and the external dependencies has at most 1 MiB. The groups of all nodes take at most 16
	// MiB together, and each file counts 64 bytes beside its texts.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	AppConfigGroup AppConfigGroups `json:"appConfigGroup,omitempty"`

	// Nodes are the nodes of the cluster, each a StatefulSet, Deployment or DaemonSet. A list of nodes, or a map from
	// node type to a list of nodes. Fields of a node: name, kind, nodeType, replicas, k8sConfigGroup, appConfigGroup,
	// reclaim. A node that is removed from the spec is deleted; its data is kept, unless its reclaim was Delete.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Nodes Nodes `json:"nodes,omitempty"`

	// OnFailure defines the reaction to a node type that doesn't become ready in an upgrade. Wait, the default, stops
	// the upgrade there, with later node types unchanged, until the node type becomes ready or this spec changes.
	// Rollback restores the last completed revision, once the node type has not been ready for upgradeTimeout; this spec
	// stays unchanged, and is not tried again until it changes.
	// +optional
	// +kubebuilder:validation:Enum=Wait;Rollback
	OnFailure FailurePolicy `json:"onFailure,omitempty"`

	// UpgradeTimeout is the maximum time for a node type to become ready in an upgrade: a number of seconds, or a string
	// such as "10m", at least a second. It should be longer than the slowest healthy node type takes. When it expires,
	// the upgrade is rolled back if onFailure is Rollback, and otherwise counts as halted, even if no pod has failed.
	// Default: 10m for Rollback; none for Wait, so that only failed pods halt an upgrade.
	// +optional
	UpgradeTimeout Duration `json:"upgradeTimeout,omitempty"`

	ClusterAliases `json:",inline"`
}

// ClusterAliases are alternative names of fields of a [ClusterSpec], which documents and examples of DSOI use. A field
// with two names at once is refused.
type ClusterAliases struct {
	// Order is an alternative name of deploymentOrder.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Order []string `json:"order,omitempty"`

	// OrderForCreateUpdate is an alternative name of deploymentOrder.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	OrderForCreateUpdate []string `json:"OrderForCreateUpdate,omitempty"`

	// K8sConfig is an alternative name of k8sConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	K8sConfig K8sConfigGroups `json:"k8sConfig,omitempty"`

	// NodeK8sConfigGroup is an alternative name of k8sConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	NodeK8sConfigGroup K8sConfigGroups `json:"nodeK8sConfigGroup,omitempty"`

	// NodeAppConfigGroup is an alternative name of appConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	NodeAppConfigGroup AppConfigGroups `json:"nodeAppConfigGroup,omitempty"`

	// MyAppConfigGroup is an alternative name of appConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	MyAppConfigGroup AppConfigGroups `json:"myAppConfigGroup,omitempty"`
}

// FailurePolicy defines the reaction to an upgrade that doesn't progress.
type FailurePolicy string

const (
	// FailureWait stops the upgrade where it is. It is the default.
	FailureWait FailurePolicy = "Wait"
	// FailureRollback restores the last completed revision, after a time.
	FailureRollback FailurePolicy = "Rollback"
)
