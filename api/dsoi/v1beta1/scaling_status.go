package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ScalingStatus is what a scaling has decided. Embed it in the status of a kind of yours, or use it as that.
//
// A decision is in the status before it is carried out, so that a restart neither forgets nor repeats it.
type ScalingStatus struct {
	// ObservedGeneration is the generation of the spec that this tells of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Nodes are the nodes that are scaled, in the order of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Nodes []NodeScalingStatus `json:"nodes,omitempty"`

	// Conditions: Ready is True when all entries are in force; else its message names each entry that isn't, and why.
	// Stalled is True when the spec has a mistake, so that an entry won't be in force before it is changed.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeScalingStatus is what was decided about one node.
type NodeScalingStatus struct {
	// Name is that of the entry.
	// +required
	Name string `json:"name"`

	// Value is the number that was last read.
	// +optional
	Value string `json:"value,omitempty"`

	// Replicas is the number of pods that was decided on. A node that is scaled by a HorizontalPodAutoscaler has none.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// LastScaleTime is when that was last changed.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`

	// Storage is what was decided about the node's volumes.
	// +optional
	// +listType=map
	// +listMapKey=name
	Storage []StorageScalingStatus `json:"storage,omitempty"`

	// Reason is one word for why the entry isn't in force; empty if it is.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message says why the entry isn't in force, in at most 256 bytes.
	// +optional
	Message string `json:"message,omitempty"`
}

// StorageScalingStatus is what was decided about volumes.
type StorageScalingStatus struct {
	// Name of the storageConfig.
	// +required
	Name string `json:"name"`

	// Value is the number that was last read.
	// +optional
	Value string `json:"value,omitempty"`

	// Size is what each volume shall at least request.
	// +optional
	Size Size `json:"size,omitempty"`

	// LastScaleTime is when that was last changed.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`
}
