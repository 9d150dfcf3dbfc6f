package v1alpha1

// ReplicaSuccessPolicy defines when a replica job has succeeded.
//
// +kubebuilder:validation:XValidation:rule="(has(self.replicaTypes) && size(self.replicaTypes) > 0) == (has(self.rule) && self.rule in ['All', 'Any'])",message="replicaTypes goes with the rules All and Any, which need it"
type ReplicaSuccessPolicy struct {
	// Rule selects the replicas that decide. Leader, the default: all replicas of the leading type (Chief, Master or
	// Launcher) if there is one, otherwise Worker 0, or, without a type Worker, all replicas. AllWorkers: all replicas
	// of Worker. All: all replicas of replicaTypes. Any: any one of them. The job has succeeded as soon as the deciding
	// replicas have, even if others have failed by then. While there is no replica that could decide, it continues.
	// +optional
	// +kubebuilder:default=Leader
	Rule SuccessRule `json:"rule,omitempty"`

	// ReplicaTypes are the types for the rules All and Any. Required for these, refused for others.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	ReplicaTypes []ReplicaType `json:"replicaTypes,omitempty"`
}

// SuccessRule selects the replicas that decide on success.
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

// ReplicaFailurePolicy defines the effect of a pod's failure on the job.
type ReplicaFailurePolicy struct {
	// MaxRestarts is the maximum number of restarts of the whole job by rules: after one more, it fails with the reason
	// MaxRestartsExceeded. Those of the action RestartJobIgnoringMax don't count. 0 fails the job at the first. Not set,
	// the default: there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`

	// RestartStrategy defines how the whole job restarts. Recreate, the default: each pod is recreated as soon as the
	// old one is gone. BlockingRecreate: no pod is created before all old ones are gone.
	// +optional
	// +kubebuilder:default=Recreate
	RestartStrategy RestartStrategy `json:"restartStrategy,omitempty"`

	// Rules are evaluated in order; the first that matches a failed pod decides. If none matches, the restartPolicy of
	// the pod's type decides.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Rules []FailureRule `json:"rules,omitempty"`
}

// RestartStrategy defines how a whole job restarts.
// +kubebuilder:validation:Enum=Recreate;BlockingRecreate
type RestartStrategy string

// Strategies of a restart.
const (
	// RestartRecreate recreates each pod as soon as its predecessor is gone.
	RestartRecreate RestartStrategy = "Recreate"
	// RestartBlockingRecreate creates no pod before all old ones are gone.
	RestartBlockingRecreate RestartStrategy = "BlockingRecreate"
)

// FailureRule matches failed pods that meet all of its criteria. A rule without criteria matches all of them.
type FailureRule struct {
	// Name identifies the rule in conditions and events. Default: the rule's place, such as "rules[0]".
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// Action is the effect of the failure. Fail: the job fails. RestartReplica: the pod is recreated, which counts
	// against backoffLimit. Ignore: the pod is recreated, which doesn't count. RestartJob: all pods are recreated, which
	// counts against maxRestarts. RestartJobIgnoringMax: the same, and doesn't count.
	// +required
	Action FailureAction `json:"action"`

	// ReplicaTypes are the types that the rule matches. Empty, the default: all of them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	ReplicaTypes []ReplicaType `json:"replicaTypes,omitempty"`

	// OnExitCodes matches the exit code of the default container (the first of the template), or, if that one has not
	// failed, of the first failed container. Not set, the default: any, or none.
	// +optional
	OnExitCodes *ExitCodes `json:"onExitCodes,omitempty"`

	// OnReasons match the pod's reason (such as Evicted or NodeLost), the reason of its condition DisruptionTarget (such
	// as PreemptionByScheduler), or the reason of a container that ended (such as OOMKilled). Empty, the default: any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	OnReasons []string `json:"onReasons,omitempty"`

	// OnMessage is a regular expression (RE2) that is matched against the first 16 KiB of the pod's message and the
	// termination messages of its failed containers. One that doesn't compile is refused, with a condition. So is one with
	// which the expressions of all rules have more than 2,000 instructions: about one for each character, and "x{100}" has
	// a hundred. Empty, the default: any.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	OnMessage string `json:"onMessage,omitempty"`
}

// FailureAction is the effect of a failure.
// +kubebuilder:validation:Enum=Fail;RestartJob;RestartReplica;Ignore;RestartJobIgnoringMax
type FailureAction string

// Actions of failure rules.
const (
	// FailureFail fails the job.
	FailureFail FailureAction = "Fail"
	// FailureRestartJob recreates all pods.
	FailureRestartJob FailureAction = "RestartJob"
	// FailureRestartReplica recreates the pod.
	FailureRestartReplica FailureAction = "RestartReplica"
	// FailureIgnore recreates the pod without counting it.
	FailureIgnore FailureAction = "Ignore"
	// FailureRestartJobIgnoringMax recreates all pods without counting it.
	FailureRestartJobIgnoringMax FailureAction = "RestartJobIgnoringMax"
)

// ExitCodes matches a container's exit code.
type ExitCodes struct {
	// Operator is In, the default: the exit code is one of values; or NotIn: it is none of them, and not 0. Neither
	// matches a pod whose containers have no exit code, for example after an eviction.
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
