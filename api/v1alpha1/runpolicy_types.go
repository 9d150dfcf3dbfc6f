package v1alpha1

// RunPolicy says how a job runs and ends: it is shared by ReplicaJob and the kinds that are written with its engine.
// All of it holds also for time that passed while no manager was running.
type RunPolicy struct {
	// CleanPodPolicy says which pods are deleted when the job has ended. Running, the default: those that are running or
	// waiting to; pods that have ended stay, with their logs. All: all of them. None: none; what runs, runs on, unless
	// the job has failed by its deadline, which ends what runs whatever the policy.
	// The job's Services go with All and Running, and stay with None. What the job had for gang scheduling always goes.
	// +optional
	// +kubebuilder:default=Running
	CleanPodPolicy CleanPodPolicy `json:"cleanPodPolicy,omitempty"`

	// TTLSecondsAfterFinished is how many seconds after its end (status.completionTime) the job is deleted, with its
	// pods. 0 deletes it as soon as its end is recorded. Not set, the default, keeps it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// ActiveDeadlineSeconds is how many seconds after status.startTime the job fails, with the reason DeadlineExceeded,
	// unless it has ended. The time that a job is suspended doesn't count: the start is that of the resume.
	// Not set, the default: there is no deadline.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// BackoffLimit is how many restarts of replicas the job survives: one more, and it fails with the reason
	// BackoffLimitExceeded. Pods made anew count, and containers that the kubelet restarted in place. Restarts of the
	// whole job are not counted here but by failurePolicy.maxRestarts, and those that a failure rule ignores not at all.
	// 0 fails the job at the first restart. Not set, the default: there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// Suspend, while true, keeps the job from running: its pods, Services and pod groups are deleted. When it becomes
	// false again, and all old pods are gone, the job starts from the beginning, with a new startTime and the restarts it
	// had. It has no effect on a job that has ended. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// ManagedBy names the controller that runs the job. A job of another one isn't touched at all, its status neither.
	// Not set, or "api.practice.com/armature": Armature. It can't be changed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ManagedBy *string `json:"managedBy,omitempty"`

	// SchedulingPolicy has the pods scheduled as a gang: enough of them together, or none. Not set, the default: each pod
	// is scheduled by itself.
	// +optional
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`
}

// CleanPodPolicy says which pods go when a job has ended.
// +kubebuilder:validation:Enum=All;Running;None
type CleanPodPolicy string

// What becomes of pods when a job has ended.
const (
	// CleanPodAll deletes all pods.
	CleanPodAll CleanPodPolicy = "All"
	// CleanPodRunning deletes the pods that are running or pending. It is the default.
	CleanPodRunning CleanPodPolicy = "Running"
	// CleanPodNone deletes none.
	CleanPodNone CleanPodPolicy = "None"
)
