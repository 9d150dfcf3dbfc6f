package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// GlobalParams are rendered into every Job and pod of a batch. They add to a Job's template: where both set the same
// key, the template takes precedence.
type GlobalParams struct {
	// NodeName is the node of all pods. The scheduler places them there (by a node affinity on the node's name, added to
	// the template's own rules), so pods wait when the node is full or cordoned, and a node that doesn't exist leaves
	// them Pending. A template that sets nodeName itself keeps its own. Empty, the default, lets the scheduler choose.
	// +optional
	NodeName string `json:"nodeName,omitempty"`

	// Env is set in every container and init container. A variable in a container's own env takes precedence. The global
	// variables come first, so a container's env can refer to them as $(NAME). A global variable takes precedence over
	// one of the same name from the container's envFrom.
	// +optional
	// +listType=atomic
	Env []corev1.EnvVar `json:"env,omitempty"`

	// Labels are set on every Job and on its pods. A label that the template's pod sets keeps its value on the pod.
	// The labels that Armature itself sets (api.practice.com/... and app.kubernetes.io/managed-by) can't be changed.
	// Keys and values that aren't valid labels are refused, with a condition.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations are set on every Job and on its pods. An annotation that the template's pod sets keeps its value
	// on the pod. Keys that aren't valid are refused, with a condition.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
