package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ScalingStatus is the observed state of a scaling. Embed it in the status of your own kind, or use it as the status.
//
// A decision is in the status before it is carried out, so that a restart neither loses nor repeats it.
type ScalingStatus struct {
	// ObservedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Nodes are the scaled nodes, in the order of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Nodes []NodeScalingStatus `json:"nodes,omitempty"`

	// Conditions: Ready is True when all entries are in effect; otherwise its message lists each entry that isn't, with
	// the reason. Stalled is True when the spec is invalid, so that an entry isn't in effect until a user changes it.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeScalingStatus is the decision about one node.
type NodeScalingStatus struct {
	// Name is the name of the entry.
	// +required
	Name string `json:"name"`

	// Value is the number that was last read.
	// +optional
	Value string `json:"value,omitempty"`

	// Replicas is the number of pods that the controller decided on. Not set if a HorizontalPodAutoscaler scales the
	// node.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// LastScaleTime is the time of the last change of replicas.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`

	// Storage are the decisions about the node's volumes.
	// +optional
	// +listType=map
	// +listMapKey=name
	Storage []StorageScalingStatus `json:"storage,omitempty"`

	// Reason is the reason in one word why the entry isn't in effect; empty if it is.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message says why the entry isn't in effect, in at most 256 bytes.
	// +optional
	Message string `json:"message,omitempty"`
}

// StorageScalingStatus is the decision about volumes.
type StorageScalingStatus struct {
	// Name of the storageConfig.
	// +required
	Name string `json:"name"`

	// Value is the number that was last read.
	// +optional
	Value string `json:"value,omitempty"`

	// Size is the minimum request of each volume.
	// +optional
	Size Size `json:"size,omitempty"`

	// LastScaleTime is the time of the last change of size.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`
}
