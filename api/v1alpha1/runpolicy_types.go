package v1alpha1

// RunPolicy defines how a job runs and ends: ReplicaJob and the kinds that are written with its engine share it. All of
// it also applies to time that passed while no manager was running.
type RunPolicy struct {
	// CleanPodPolicy defines which pods are deleted when the job has ended. Running, the default: running and pending
	// pods; pods that have ended stay, with their logs. All: all of them. None: none; running pods continue, unless the
	// job has failed by its deadline, which stops them regardless of the policy. The job's Services are deleted with All
	// and Running, and stay with None. The job's objects for gang scheduling are always deleted.
	// +optional
	// +kubebuilder:default=Running
	CleanPodPolicy CleanPodPolicy `json:"cleanPodPolicy,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds between the end of the job (status.completionTime) and its
	// deletion, with its pods. 0 deletes it as soon as its end is recorded. Not set, the default, keeps it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// ActiveDeadlineSeconds is the time in seconds after status.startTime at which the job fails, with the reason
	// DeadlineExceeded, unless it has ended. The time in which a job is suspended doesn't count: it starts again with
	// the resume. Not set, the default: there is no deadline.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// BackoffLimit is the maximum number of restarts of replicas: after one more, the job fails with the reason
	// BackoffLimitExceeded. Recreated pods and containers that the kubelet restarted in place count. Restarts of the
	// whole job count against failurePolicy.maxRestarts instead, and those that a failure rule ignores don't count. 0
	// fails the job at the first restart. Not set, the default: there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// Suspend, while true, stops the job: its pods, Services and pod groups are deleted. When it becomes false, and all
	// old pods are gone, the job starts from the beginning, with a new startTime and the old number of restarts. It has
	// no effect on a job that has ended. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// ManagedBy names the controller that runs the job. With another value than api.practice.com/armature, the default,
	// Armature ignores the job and its status. It can't be changed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ManagedBy *string `json:"managedBy,omitempty"`

	// SchedulingPolicy schedules the pods as a gang: enough of them together, or none. Not set, the default: each pod is
	// scheduled by itself.
	// +optional
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`
}

// CleanPodPolicy defines which pods are deleted when a job has ended.
// +kubebuilder:validation:Enum=All;Running;None
type CleanPodPolicy string

// The values of cleanPodPolicy.
const (
	// CleanPodAll deletes all pods.
	CleanPodAll CleanPodPolicy = "All"
	// CleanPodRunning deletes the pods that are running or pending. It is the default.
	CleanPodRunning CleanPodPolicy = "Running"
	// CleanPodNone deletes none.
	CleanPodNone CleanPodPolicy = "None"
)
