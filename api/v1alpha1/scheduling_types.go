package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// SchedulingPolicy asks a scheduler to place the pods of a job together or not at all.
//
// Which fields mean something depends on the provider; one that it doesn't know is refused, with a condition.
type SchedulingPolicy struct {
	// Provider is who schedules the gang. Default: Kubernetes if the cluster has its API, else PodDisruptionBudget.
	//
	// Kubernetes: the cluster's own scheduler, by a PodGroup of scheduling.k8s.io/v1beta1 (feature gate GenericWorkload).
	// Volcano: a PodGroup of scheduling.volcano.sh/v1beta1; pods are made once Volcano has let the group in.
	// SchedulerPlugins: a PodGroup of scheduling.x-k8s.io/v1alpha1.
	// PodDisruptionBudget: none does, but evictions leave minAvailable pods, and schedulers such as kube-batch read it.
	// A job whose provider's API the cluster doesn't have waits for it, with the condition Ready=False and the reason
	// NoGangScheduler; nothing is created before.
	// +optional
	Provider GangProvider `json:"provider,omitempty"`

	// MinAvailable is how many pods must be scheduled together. More than the job's replicas is refused.
	// Default: all of the job's replicas.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinAvailable *int32 `json:"minAvailable,omitempty"`

	// Queue is the queue that the gang waits in. Only of Volcano. Default: Volcano's own default queue.
	// +optional
	Queue string `json:"queue,omitempty"`

	// PriorityClass is the name of the gang's PriorityClass. Only of Kubernetes and Volcano. Default: none.
	// +optional
	PriorityClass string `json:"priorityClass,omitempty"`

	// MinResources is what must be free before the gang is considered. Only of Volcano and SchedulerPlugins.
	// Default: the sum of what the first minAvailable pods request, those of a higher priority first.
	// +optional
	MinResources corev1.ResourceList `json:"minResources,omitempty"`

	// ScheduleTimeoutSeconds is how long the scheduler holds pods of the gang that have a place while others have none.
	// Only of SchedulerPlugins. Default: the scheduler's.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ScheduleTimeoutSeconds *int32 `json:"scheduleTimeoutSeconds,omitempty"`
}

// GangProvider is who schedules a gang.
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
	// GangPodDisruptionBudget only keeps enough pods from being evicted.
	GangPodDisruptionBudget GangProvider = "PodDisruptionBudget"
)
