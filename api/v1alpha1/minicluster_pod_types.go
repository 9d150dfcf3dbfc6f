package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// MiniClusterPod defines fields of all pods of a MiniCluster.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.restartPolicy) || self.restartPolicy in ["", 'Never']`,message="pod.restartPolicy must be Never: a container that restarts by itself would hide a lost leader; see backoffLimit"
type MiniClusterPod struct {
	// Annotations of each pod.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Labels of each pod. Those that the operator or the Job sets itself are refused.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// RestartPolicy is Never, the default. OnFailure and Always are refused: the operator restarts the cluster as a
	// whole, see backoffLimit, and the Job replaces lost workers.
	// +optional
	RestartPolicy corev1.RestartPolicy `json:"restartPolicy,omitempty"`

	// ServiceAccountName is the service account of the pods. Default: the namespace's default.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// AutomountServiceAccountToken defines whether the containers have the service account's token. Default: Kubernetes'
	// own, true unless the service account sets it to false.
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`

	// SchedulerName is the scheduler of the pods. Default: Kubernetes' own.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`

	// RuntimeClassName is the pods' runtime class. Default: none.
	// +optional
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// NodeSelector are labels that a node must have.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// NodeAffinity has the accepted values of node labels; a node must have an accepted value for every label.
	// +optional
	NodeAffinity map[string][]string `json:"nodeAffinity,omitempty"`

	// Tolerations of the pods.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// DNSPolicy of the pods. Default: ClusterFirst.
	// +optional
	DNSPolicy corev1.DNSPolicy `json:"dnsPolicy,omitempty"`

	// HostIPC gives the pods access to their node's shared memory. Default: false.
	// +optional
	HostIPC bool `json:"hostIPC,omitempty"`

	// HostPID gives the pods access to their node's processes. Default: false.
	// +optional
	HostPID bool `json:"hostPID,omitempty"`

	// Resources are the requests of a pod as a whole, of cpu, memory and huge pages; others are refused. (In
	// flux-operator they were the pod's overhead, which Kubernetes no longer lets a pod set.) Default: the sum of the
	// containers' requests.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// SecurityContext of the pods.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
}
