package v1beta1

// ClusterSpec describes a distributed system by its nodes. Embed it inline in the spec of a kind of yours.
//
// A description with a mistake (a group that isn't there, an order that names no node type) is not carried out in part:
// the conditions Ready and Stalled, with the reason InvalidSpec, name each mistake, and nothing is changed until it is
// mended.
type ClusterSpec struct {
	// External is what the cluster depends on and doesn't run itself (zookeeper, metadataStore, deepStorage): a map from
	// name to spec, of which each may have any fields, at "spec" or right there. It reaches each node's pods as a file
	// external-<name>.json of its ConfigMap, so that a change of it rolls all nodes, in order.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	External Externals `json:"external,omitempty"`

	// DeploymentOrder lists the node types in the order in which an upgrade changes them. Each node type of nodes must be
	// in it, once, and each must have a node. The first install is in parallel. The order may be changed at any time, by
	// itself that upgrades nothing; during an upgrade the new order holds from then on.
	// +optional
	// +listType=atomic
	DeploymentOrder []string `json:"deploymentOrder,omitempty"`

	// K8sConfigGroup are what pods look like to Kubernetes: image, resources, volumes and so on; nodes name the one that
	// they have. A list of groups that have names, or a map from name to group. Fields of a group: name, image,
	// imagePullPolicy, serviceAccountName, env, ports, livenessProbe, readinessProbe, startupProbe, minReadySeconds,
	// resources, volumes, volumeMounts, storageConfig, service, nodeSelector, tolerations, affinity, podMetadata,
	// securityContext, containerSecurityContext, updateStrategy, podDisruptionBudget. An unknown field is refused.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	K8sConfigGroup K8sConfigGroups `json:"k8sConfigGroup,omitempty"`

	// AppConfigGroup are the application's own configuration; nodes name the ones that they have. A list of groups that
	// have names, or a map from name to group. Fields of a group: name, scope, nodeType, data, files,
	// commonRuntimeProperties, runtimeProperties, overrideProperties; and what the application's operator knows beside
	// them.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	AppConfigGroup AppConfigGroups `json:"appConfigGroup,omitempty"`

	// Nodes are what the cluster consists of, each a StatefulSet, Deployment or DaemonSet. A list of nodes, or a map from
	// node type to a list of nodes. Fields of a node: name, kind, nodeType, replicas, k8sConfigGroup, appConfigGroup,
	// reclaim. A node that is taken out is deleted; its data is kept, unless its reclaim was Delete.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Nodes Nodes `json:"nodes,omitempty"`

	// OnFailure says what becomes of an upgrade of which a node type doesn't become ready. Wait, the default, leaves it
	// where it is, with later node types as they were, until it becomes ready or this spec is changed. Rollback returns
	// to what was last completed, once the node type has not been ready for upgradeTimeout; this spec stays as it is, and
	// is not tried again until it changes.
	// +optional
	// +kubebuilder:validation:Enum=Wait;Rollback
	OnFailure FailurePolicy `json:"onFailure,omitempty"`

	// UpgradeTimeout is how long a node type may take to become ready in an upgrade: a number of seconds, or a text such
	// as "10m", at least a second. It should be longer than the slowest node type takes in good health. When it is over,
	// the upgrade is rolled back if onFailure is Rollback, and else counts as halted, even if no pod has failed. Default:
	// 10m for Rollback; for Wait none, so that only failed pods halt an upgrade.
	// +optional
	UpgradeTimeout Duration `json:"upgradeTimeout,omitempty"`

	ClusterAliases `json:",inline"`
}

// ClusterAliases are other names of fields of a [ClusterSpec], which documents and examples of DSOI use. A field that
// is given under two names is refused.
type ClusterAliases struct {
	// Order is another name of deploymentOrder.
	// +optional
	// +listType=atomic
	Order []string `json:"order,omitempty"`

	// OrderForCreateUpdate is another name of deploymentOrder.
	// +optional
	// +listType=atomic
	OrderForCreateUpdate []string `json:"OrderForCreateUpdate,omitempty"`

	// K8sConfig is another name of k8sConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	K8sConfig K8sConfigGroups `json:"k8sConfig,omitempty"`

	// NodeK8sConfigGroup is another name of k8sConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	NodeK8sConfigGroup K8sConfigGroups `json:"nodeK8sConfigGroup,omitempty"`

	// NodeAppConfigGroup is another name of appConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	NodeAppConfigGroup AppConfigGroups `json:"nodeAppConfigGroup,omitempty"`

	// MyAppConfigGroup is another name of appConfigGroup.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	MyAppConfigGroup AppConfigGroups `json:"myAppConfigGroup,omitempty"`
}

// FailurePolicy says what becomes of an upgrade that doesn't get on.
type FailurePolicy string

const (
	// FailureWait leaves the upgrade where it is. It is the default.
	FailureWait FailurePolicy = "Wait"
	// FailureRollback returns to what was last completed, after a time.
	FailureRollback FailurePolicy = "Rollback"
)
