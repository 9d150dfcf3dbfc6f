package v1alpha1

// EndOfJob defines when a Job counts as succeeded.
// +kubebuilder:validation:Enum=Pods;Condition
type EndOfJob string

// The values of endOfJob.
const (
	// EndOfJobPods: as soon as its pods determine its success.
	EndOfJobPods EndOfJob = "Pods"
	// EndOfJobCondition: when it has the condition Complete.
	EndOfJobCondition EndOfJob = "Condition"
)
