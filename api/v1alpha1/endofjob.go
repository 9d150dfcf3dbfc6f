package v1alpha1

// EndOfJob is when a Job counts as succeeded.
// +kubebuilder:validation:Enum=Pods;Condition
type EndOfJob string

// When a Job counts as succeeded.
const (
	// EndOfJobPods: as soon as its pods determine that it will succeed.
	EndOfJobPods EndOfJob = "Pods"
	// EndOfJobCondition: when it has the condition Complete.
	EndOfJobCondition EndOfJob = "Condition"
)
