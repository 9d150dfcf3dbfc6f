package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// SchedulingPolicy requests that a scheduler places the pods of a job together or not at all.
//
// The provider determines the supported fields; an unsupported one is refused, with a condition.
type SchedulingPolicy struct {
	// Provider schedules the gang. Default: Kubernetes if the cluster has its API, otherwise PodDisruptionBudget.
	//
	// Kubernetes: the cluster's own scheduler, by a PodGroup of scheduling.k8s.io/v1beta1 (feature gate
	// GenericWorkload). Volcano: a PodGroup of scheduling.volcano.sh/v1beta1; pods are created once Volcano has admitted
	// the group. SchedulerPlugins: a PodGroup of scheduling.x-k8s.io/v1alpha1. PodDisruptionBudget: no scheduler, but
	// evictions leave minAvailable pods, and schedulers such as kube-batch read it. A job waits while the cluster lacks
	// the API of its provider, with the condition Ready=False and the reason NoGangScheduler; nothing is created before.
	// +optional
	Provider GangProvider `json:"provider,omitempty"`

	// MinAvailable is the number of pods that must be scheduled together. More than the job's replicas is refused.
	// Default: all of the job's replicas.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinAvailable *int32 `json:"minAvailable,omitempty"`

	// Queue is the queue of the gang. Volcano only. Default: Volcano's own default queue.
	// +optional
	Queue string `json:"queue,omitempty"`

	// PriorityClass is the name of the gang's PriorityClass. Kubernetes and Volcano only. Default: none.
	// +optional
	PriorityClass string `json:"priorityClass,omitempty"`

	// MinResources are the resources that must be free before the gang is considered. Volcano and SchedulerPlugins only.
	// Default: the sum of the requests of the pods that are placed together, those of a higher priority first.
	// +optional
	MinResources corev1.ResourceList `json:"minResources,omitempty"`

	// ScheduleTimeoutSeconds is the time for which the scheduler holds placed pods of the gang while others have no
	// node. SchedulerPlugins only. Default: the scheduler's.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ScheduleTimeoutSeconds *int32 `json:"scheduleTimeoutSeconds,omitempty"`
}

// GangProvider schedules a gang.
// +kubebuilder:validation:Enum=Kubernetes;Volcano;SchedulerPlugins;PodDisruptionBudget
type GangProvider string

// The providers of gang scheduling.
const (
	// GangKubernetes is Kubernetes' own scheduler.
	GangKubernetes GangProvider = "Kubernetes"
	// GangVolcano is Volcano.
	GangVolcano GangProvider = "Volcano"
	// GangSchedulerPlugins is the coscheduling plugin of kubernetes-sigs/scheduler-plugins.
	GangSchedulerPlugins GangProvider = "SchedulerPlugins"
	// GangPodDisruptionBudget only prevents evictions below the minimum.
	GangPodDisruptionBudget GangProvider = "PodDisruptionBudget"
)
