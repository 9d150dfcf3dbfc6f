package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterStatus is how far a cluster is. Embed it in the status of a kind of yours, or use it as that.
type ClusterStatus struct {
	// ObservedGeneration is the generation of the spec that this tells of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase is how far the cluster is, in one word.
	// +optional
	Phase ClusterPhase `json:"phase,omitempty"`

	// Revision is what was last completed: the name of a ControllerRevision. Empty until the first install is.
	// +optional
	Revision string `json:"revision,omitempty"`

	// NodeTypes are the node types in the order of deployment.
	// +optional
	// +listType=map
	// +listMapKey=name
	NodeTypes []NodeTypeStatus `json:"nodeTypes,omitempty"`

	// Upgrade is the upgrade under way, or else the last one. The first install is none.
	// +optional
	Upgrade *UpgradeStatus `json:"upgrade,omitempty"`

	// Conditions: Ready is True when all nodes are as described, and ready; Progressing while something is being changed
	// or waited for; Stalled when nothing more will happen until someone changes the spec or the cluster.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ClusterPhase is how far a cluster is.
type ClusterPhase string

const (
	// ClusterInvalid: the spec has a mistake, and nothing was changed.
	ClusterInvalid ClusterPhase = "Invalid"
	// ClusterInstalling: it is installed for the first time, all node types at once.
	ClusterInstalling ClusterPhase = "Installing"
	// ClusterRunning: all is as described, and was ready. Whether it is now, the condition Ready says.
	ClusterRunning ClusterPhase = "Running"
	// ClusterUpgrading: a change is being made, node type by node type.
	ClusterUpgrading ClusterPhase = "Upgrading"
	// ClusterHalted: an upgrade doesn't go on, since a node has failed, or a node type takes longer than upgradeTimeout.
	ClusterHalted ClusterPhase = "Halted"
	// ClusterRolledBack: what is described did not become ready in time; the nodes are what they were before.
	ClusterRolledBack ClusterPhase = "RolledBack"
	// ClusterTerminating: it is being deleted.
	ClusterTerminating ClusterPhase = "Terminating"
)

// NodeTypeStatus is how far the nodes of a type are.
type NodeTypeStatus struct {
	// Name of the node type.
	// +required
	Name string `json:"name"`

	// State is how far the nodes are, in one word.
	// +required
	State NodeTypeState `json:"state"`

	// Revision is a hash of what the nodes' pods are made from. Nodes of a type that have the same configuration and
	// image on two clusters have different ones.
	// +optional
	Revision string `json:"revision,omitempty"`

	// Ready is the number of pods that are ready.
	// +optional
	Ready int32 `json:"ready"`

	// Desired is the number of pods that there should be.
	// +optional
	Desired int32 `json:"desired"`
}

// NodeTypeState is how far the nodes of a type are.
type NodeTypeState string

const (
	// NodeTypeReady: all pods are there, of the newest revision, and ready.
	NodeTypeReady NodeTypeState = "Ready"
	// NodeTypePending: the nodes are to be changed when it is their turn.
	NodeTypePending NodeTypeState = "Pending"
	// NodeTypeProgressing: the nodes are being changed, or have pods that aren't ready.
	NodeTypeProgressing NodeTypeState = "Progressing"
	// NodeTypeFailed: a pod can't start, or keeps crashing.
	NodeTypeFailed NodeTypeState = "Failed"
)

// UpgradeStatus is when an upgrade was, from what to what.
type UpgradeStatus struct {
	// StartedAt is when it was begun.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// FinishedAt is when it was completed, given up and rolled back, or taken back in the spec.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	// Duration is how long it took, such as "4m12s", once it has finished.
	// +optional
	Duration string `json:"duration,omitempty"`

	// FromRevision is what was completed before: the name of a ControllerRevision.
	// +optional
	FromRevision string `json:"fromRevision,omitempty"`

	// ToRevision is what it is to become: the name of a ControllerRevision.
	// +required
	ToRevision string `json:"toRevision"`
}
