package v1alpha1

// ReplicaSuccessPolicy says when a replica job has succeeded.
//
// +kubebuilder:validation:XValidation:rule="(has(self.replicaTypes) && size(self.replicaTypes) > 0) == (has(self.rule) && self.rule in ['All', 'Any'])",message="replicaTypes goes with the rules All and Any, which need it"
type ReplicaSuccessPolicy struct {
	// Rule says who decides. Leader, the default: all replicas of the leading type (Chief, Master or Launcher) when there
	// is one, else Worker 0, else, without a type Worker, all replicas. AllWorkers: all replicas of Worker. All: all
	// replicas of replicaTypes. Any: any one of them.
	// The job has succeeded as soon as those that decide have, also if others have failed by then. As long as there
	// is no replica that could decide, it goes on.
	// +optional
	// +kubebuilder:default=Leader
	Rule SuccessRule `json:"rule,omitempty"`

	// ReplicaTypes are the types that the rules All and Any are about. Required for these, refused for others.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	ReplicaTypes []ReplicaType `json:"replicaTypes,omitempty"`
}

// SuccessRule says which replicas decide on success.
// +kubebuilder:validation:Enum=Leader;AllWorkers;All;Any
type SuccessRule string

// Rules of success.
const (
	// SuccessLeader: the leading type decides, or Worker 0.
	SuccessLeader SuccessRule = "Leader"
	// SuccessAllWorkers: all workers must succeed.
	SuccessAllWorkers SuccessRule = "AllWorkers"
	// SuccessAll: all replicas of the named types must succeed.
	SuccessAll SuccessRule = "All"
	// SuccessAny: one replica of the named types must succeed.
	SuccessAny SuccessRule = "Any"
)

// ReplicaFailurePolicy says what the failure of a pod means for the job.
type ReplicaFailurePolicy struct {
	// MaxRestarts is how many restarts of the whole job the rules may ask for: one more, and it fails with the reason
	// MaxRestartsExceeded. Those of the action RestartJobIgnoringMax don't count. 0 fails the job at the first.
	// Not set, the default: there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`

	// RestartStrategy says how the whole job restarts. Recreate, the default: each pod is made anew as soon as the old one
	// is gone. BlockingRecreate: no pod is made before all old ones are gone.
	// +optional
	// +kubebuilder:default=Recreate
	RestartStrategy RestartStrategy `json:"restartStrategy,omitempty"`

	// Rules are looked at in order; the first that matches a failed pod decides. If none does, the restartPolicy of the
	// pod's type does.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Rules []FailureRule `json:"rules,omitempty"`
}

// RestartStrategy says how a whole job restarts.
// +kubebuilder:validation:Enum=Recreate;BlockingRecreate
type RestartStrategy string

// Strategies of a restart.
const (
	// RestartRecreate makes each pod anew as soon as its predecessor is gone.
	RestartRecreate RestartStrategy = "Recreate"
	// RestartBlockingRecreate makes no pod before all old ones are gone.
	RestartBlockingRecreate RestartStrategy = "BlockingRecreate"
)

// FailureRule matches failed pods by what is set in it: all of that must hold. A rule with nothing set matches them all.
type FailureRule struct {
	// Name is for conditions and events to refer to. Default: the rule's place, such as "rules[0]".
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// Action is what the failure means. Fail: the job fails. RestartReplica: the pod is made again, which counts against
	// backoffLimit. Ignore: the pod is made again, which doesn't count. RestartJob: all pods are made again, which counts
	// against maxRestarts. RestartJobIgnoringMax: the same, and doesn't count.
	// +required
	Action FailureAction `json:"action"`

	// ReplicaTypes are the types that the rule is about. Empty, the default: all of them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	ReplicaTypes []ReplicaType `json:"replicaTypes,omitempty"`

	// OnExitCodes matches the exit code of the default container (the first of the template), or, if that one has not
	// failed, of the first that has. Not set, the default: any, or none.
	// +optional
	OnExitCodes *ExitCodes `json:"onExitCodes,omitempty"`

	// OnReasons match the pod's reason (such as Evicted or NodeLost), the reason of its condition DisruptionTarget (such
	// as PreemptionByScheduler), or the reason of a container that ended (such as OOMKilled). Empty, the default: any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	OnReasons []string `json:"onReasons,omitempty"`

	// OnMessage is a regular expression (RE2) that is looked for in the pod's message and in the termination messages of
	// its containers that failed. One that doesn't compile is refused, with a condition. Empty, the default: any.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	OnMessage string `json:"onMessage,omitempty"`
}

// FailureAction is what a failure means.
// +kubebuilder:validation:Enum=Fail;RestartJob;RestartReplica;Ignore;RestartJobIgnoringMax
type FailureAction string

// Actions of failure rules.
const (
	// FailureFail fails the job.
	FailureFail FailureAction = "Fail"
	// FailureRestartJob makes all pods again.
	FailureRestartJob FailureAction = "RestartJob"
	// FailureRestartReplica makes the pod again.
	FailureRestartReplica FailureAction = "RestartReplica"
	// FailureIgnore makes the pod again without counting it.
	FailureIgnore FailureAction = "Ignore"
	// FailureRestartJobIgnoringMax makes all pods again without counting it.
	FailureRestartJobIgnoringMax FailureAction = "RestartJobIgnoringMax"
)

// ExitCodes matches a container's exit code.
type ExitCodes struct {
	// Operator is In, the default: the exit code is one of values; or NotIn: it is none of them, and not 0.
	// A pod whose containers have no exit code, having been evicted, is matched by neither.
	// +optional
	// +kubebuilder:default=In
	Operator ExitCodeOperator `json:"operator,omitempty"`

	// Values are exit codes, 1 to 255.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=255
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=255
	Values []int32 `json:"values"`
}

// ExitCodeOperator relates an exit code to a list of them.
// +kubebuilder:validation:Enum=In;NotIn
type ExitCodeOperator string

// How exit codes are compared.
const (
	// ExitCodeIn: the exit code is in the list.
	ExitCodeIn ExitCodeOperator = "In"
	// ExitCodeNotIn: the exit code is not in the list, and not 0.
	ExitCodeNotIn ExitCodeOperator = "NotIn"
)
