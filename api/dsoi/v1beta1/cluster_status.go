package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterStatus is the observed state of a cluster. Embed it in the status of your own kind, or use it as the status.
type ClusterStatus struct {
	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase summarises the cluster in one word.
	// +optional
	Phase ClusterPhase `json:"phase,omitempty"`

	// Revision is the last completed revision: the name of a ControllerRevision. Empty until the first install is
	// complete.
	// +optional
	Revision string `json:"revision,omitempty"`

	// NodeTypes are the node types in the order of deployment.
	// +optional
	// +listType=map
	// +listMapKey=name
	NodeTypes []NodeTypeStatus `json:"nodeTypes,omitempty"`

	// Upgrade is the current upgrade, or otherwise the last one. The first install isn't an upgrade.
	// +optional
	Upgrade *UpgradeStatus `json:"upgrade,omitempty"`

	// Conditions: Ready is True when all nodes are as described, and ready; Progressing while the operator changes a
	// node or waits for one; Stalled when the cluster can't progress until a user changes the spec or the cluster.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ClusterPhase summarises a cluster in one word.
type ClusterPhase string

const (
	// ClusterInvalid means that the spec is invalid, and nothing was changed.
	ClusterInvalid ClusterPhase = "Invalid"
	// ClusterInstalling means that the cluster is installed for the first time, all node types at once.
	ClusterInstalling ClusterPhase = "Installing"
	// ClusterRunning means that all nodes are as described, and were ready. The condition Ready says whether they are ready now.
	ClusterRunning ClusterPhase = "Running"
	// ClusterUpgrading means that a change is being applied, node type by node type.
	ClusterUpgrading ClusterPhase = "Upgrading"
	// ClusterHalted means that an upgrade doesn't progress, because a node has failed, or a node type takes longer than
	// upgradeTimeout.
	ClusterHalted ClusterPhase = "Halted"
	// ClusterRolledBack means that the described nodes did not become ready in time; the previous nodes are restored.
	ClusterRolledBack ClusterPhase = "RolledBack"
	// ClusterTerminating means that the cluster is being deleted.
	ClusterTerminating ClusterPhase = "Terminating"
)

// NodeTypeStatus is the observed state of the nodes of a type.
type NodeTypeStatus struct {
	// Name of the node type.
	// +required
	Name string `json:"name"`

	// State summarises the nodes in one word.
	// +required
	State NodeTypeState `json:"state"`

	// Revision is a hash of the nodes' pod templates. It differs between clusters, even for nodes with the same
	// configuration and image.
	// +optional
	Revision string `json:"revision,omitempty"`

	// Ready is the number of pods that are ready.
	// +optional
	Ready int32 `json:"ready"`

	// Desired is the desired number of pods.
	// +optional
	Desired int32 `json:"desired"`
}

// NodeTypeState summarises the nodes of a type in one word.
type NodeTypeState string

const (
	// NodeTypeReady means that all pods exist, have the newest revision, and are ready.
	NodeTypeReady NodeTypeState = "Ready"
	// NodeTypePending means that the upgrade has not reached the nodes yet.
	NodeTypePending NodeTypeState = "Pending"
	// NodeTypeProgressing means that the nodes are being changed, or have pods that aren't ready.
	NodeTypeProgressing NodeTypeState = "Progressing"
	// NodeTypeFailed means that a pod can't start, or crashes repeatedly.
	NodeTypeFailed NodeTypeState = "Failed"
)

// UpgradeStatus describes an upgrade: its times and its revisions.
type UpgradeStatus struct {
	// StartedAt is the time of its start.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// FinishedAt is the time at which it was completed, rolled back, or reverted in the spec.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	// Duration is the time from start to end, such as "4m12s", once it has finished.
	// +optional
	Duration string `json:"duration,omitempty"`

	// FromRevision is the previous completed revision: the name of a ControllerRevision.
	// +optional
	FromRevision string `json:"fromRevision,omitempty"`

	// ToRevision is the desired revision: the name of a ControllerRevision.
	// +required
	ToRevision string `json:"toRevision"`
}
