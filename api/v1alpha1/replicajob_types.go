package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReplicaJob runs pods of several types together, such as a chief, parameter servers and workers, each with a fixed name
// and index, until the replicas that decide the outcome have succeeded.
//
// The pods are called <job>-<type in lower case>-<index> and reach each other as <pod>.<job> by a headless Service. Each
// container has JOB_NAME, REPLICA_TYPE, REPLICA_INDEX, REPLICAS, RANK, WORLD_SIZE and COORDINATOR in its environment.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicaSpecs.Worker.replicas,statuspath=.status.replicaStatuses.Worker.active,selectorpath=.status.replicaStatuses.Worker.selector
// +kubebuilder:resource:shortName=rj
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Restarts",type=integer,JSONPath=".status.totalRestarts"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="metadata.name must be a DNS label: lower case letters, digits and '-', starting with a letter; it is the name of a Service"
// +kubebuilder:validation:XValidation:rule="self.spec.replicaSpecs.all(t, size(self.metadata.name) + size(t) + 2 + size(string(has(self.spec.replicaSpecs[t].replicas) && self.spec.replicaSpecs[t].replicas > 0 ? self.spec.replicaSpecs[t].replicas - 1 : 0)) <= 63 || (oldSelf.hasValue() && t in oldSelf.value().spec.replicaSpecs && (has(self.spec.replicaSpecs[t].replicas) ? self.spec.replicaSpecs[t].replicas : 1) <= (has(oldSelf.value().spec.replicaSpecs[t].replicas) ? oldSelf.value().spec.replicaSpecs[t].replicas : 1)))",optionalOldSelf=true,message="a pod's name, <job>-<type>-<index>, must have at most 63 characters: it is a host name"
type ReplicaJob struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state.
	// +required
	Spec ReplicaJobSpec `json:"spec"`

	// Status is the observed state. The operator writes it.
	// +optional
	Status ReplicaJobStatus `json:"status,omitzero"`
}

// Conditions returns a pointer to the conditions in the status.
func (j *ReplicaJob) Conditions() *[]metav1.Condition { return &j.Status.Conditions }

// ReplicaJobSpec is the desired state of a replica job: of ReplicaJob itself, and of the kinds written with its engine.
//
// While the job runs, replicas can be changed: pods of the highest indexes are deleted first, the others stay unchanged.
// A changed template applies to new pods. Once the job has ended, a change has no effect.
//
// +kubebuilder:validation:XValidation:rule="(has(self.runPolicy) && has(self.runPolicy.managedBy) ? self.runPolicy.managedBy : \"\") == (has(oldSelf.runPolicy) && has(oldSelf.runPolicy.managedBy) ? oldSelf.runPolicy.managedBy : \"\")",message="runPolicy.managedBy can't be changed"
// +kubebuilder:validation:XValidation:rule="self.replicaSpecs.all(t, size(t) <= 40 && t.matches('^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$'))",message="replicaSpecs: a type's name has letters, digits and '-', starts with a letter, ends with a letter or digit, and has at most 40 characters"
// +kubebuilder:validation:XValidation:rule="self.replicaSpecs.all(t, self.replicaSpecs.exists_one(u, u.lowerAscii() == t.lowerAscii()))",message="replicaSpecs: names of types must differ in more than case"
// +kubebuilder:validation:XValidation:rule="self.replicaSpecs.all(t, !has(self.replicaSpecs[t].dependsOn) || self.replicaSpecs[t].dependsOn.all(d, d.type != t && d.type in self.replicaSpecs))",message="replicaSpecs: dependsOn must name other types of the job"
// +kubebuilder:validation:XValidation:rule="!has(self.successPolicy) || !has(self.successPolicy.replicaTypes) || self.successPolicy.replicaTypes.all(t, t in self.replicaSpecs)",message="successPolicy.replicaTypes must name types of the job"
// +kubebuilder:validation:XValidation:rule="!has(self.successPolicy) || !has(self.successPolicy.rule) || self.successPolicy.rule != 'AllWorkers' || self.replicaSpecs.exists(t, t.lowerAscii() == 'worker')",message="successPolicy.rule: AllWorkers needs a type Worker"
// +kubebuilder:validation:XValidation:rule="!has(self.runPolicy) || !has(self.runPolicy.schedulingPolicy) || !has(self.runPolicy.schedulingPolicy.minAvailable) || self.replicaSpecs.all(t, has(self.replicaSpecs[t].replicas) && self.replicaSpecs[t].replicas == 0) || self.runPolicy.schedulingPolicy.minAvailable <= self.replicaSpecs.map(t, has(self.replicaSpecs[t].replicas) ? self.replicaSpecs[t].replicas : 1).sum()",message="runPolicy.schedulingPolicy.minAvailable must be at most the number of replicas of all types"
// +kubebuilder:validation:XValidation:rule="!has(self.failurePolicy) || !has(self.failurePolicy.rules) || self.failurePolicy.rules.all(r, !has(r.replicaTypes) || r.replicaTypes.all(t, t in self.replicaSpecs))",message="failurePolicy.rules: replicaTypes must name types of the job"
type ReplicaJobSpec struct {
	// ReplicaSpecs are the types of replicas and their pods. At least one, at most 16.
	//
	// Some types have a role by their name, in any case: Chief, Master and Launcher lead (the first of them that has
	// replicas decides, in this order, and comes first in ranks); Worker 0 decides without any of them. `kubectl scale`
	// and autoscalers change the replicas of Worker, in this spelling. Names that differ in case only are refused.
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	ReplicaSpecs map[ReplicaType]ReplicaSpec `json:"replicaSpecs"`

	// RunPolicy defines how the job runs and ends.
	// +optional
	RunPolicy RunPolicy `json:"runPolicy,omitzero"`

	// SuccessPolicy defines when the job has succeeded. Default: its rule Leader.
	// +optional
	SuccessPolicy *ReplicaSuccessPolicy `json:"successPolicy,omitempty"`

	// FailurePolicy defines the effect of a pod's failure, where it differs from the type's restartPolicy.
	// +optional
	FailurePolicy *ReplicaFailurePolicy `json:"failurePolicy,omitempty"`

	// Network defines how replicas are reached, besides the one headless Service of every job.
	// +optional
	Network ReplicaNetwork `json:"network,omitzero"`
}

// ReplicaType is the name of a type of replicas, such as Worker: letters, digits and '-', starting with a letter.
// +kubebuilder:validation:MaxLength=40
// +kubebuilder:validation:Pattern=`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`
type ReplicaType string

// Types of replicas with a role by their name.
const (
	// ReplicaChief leads a job, as in TensorFlow.
	ReplicaChief ReplicaType = "Chief"
	// ReplicaMaster leads a job, as in PyTorch.
	ReplicaMaster ReplicaType = "Master"
	// ReplicaLauncher leads a job, as in MPI.
	ReplicaLauncher ReplicaType = "Launcher"
	// ReplicaWorker is the type that does the work. Without a leader, its index 0 decides.
	ReplicaWorker ReplicaType = "Worker"
)

// ReplicaSpec is one type of replicas.
//
// +kubebuilder:validation:XValidation:rule="has(self.template.spec) && size(self.template.spec.containers) > 0",message="template.spec.containers: at least one container is needed"
type ReplicaSpec struct {
	// Replicas is the number of pods of this type. Default: 1. With 0, the job has no replicas of the type.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	// +kubebuilder:default=1
	Replicas *int32 `json:"replicas,omitempty"`

	// Template is the pod (see kubectl explain pod). restartPolicy beside it overrides the template's; the operator sets
	// hostname and subdomain to give the pod a DNS name. Labels here can't change the labels of the job. A changed
	// template doesn't change existing pods.
	// +required
	Template corev1.PodTemplateSpec `json:"template"`

	// RestartPolicy defines the effect of a failed pod of this type, unless a rule of the failurePolicy matches. Always,
	// OnFailure: the kubelet restarts containers in place; a pod that still fails, by an eviction or with its node, is
	// recreated. Never: the job fails. ExitCode: exit codes 1 to 127 fail the job; 128 and more (a signal), or no exit
	// code (an eviction), recreate the pod. A recreated pod has the same name; the first is created at once, the next
	// after 1, 2, 4 ... 60 seconds. Default: the template's restartPolicy if it has one, otherwise Never.
	// +optional
	RestartPolicy ReplicaRestartPolicy `json:"restartPolicy,omitempty"`

	// DependsOn are the types whose replicas must be ready or complete before pods of this type are created, also when
	// the job restarts or is resumed. Cycles are refused, with a condition.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=15
	DependsOn []ReplicaDependency `json:"dependsOn,omitempty"`
}

// ReplicaRestartPolicy is the effect of a failed pod of a type.
// +kubebuilder:validation:Enum=Always;OnFailure;Never;ExitCode
type ReplicaRestartPolicy string

// Restart policies of replicas.
const (
	// RestartAlways restarts containers in place, including succeeded ones.
	RestartAlways ReplicaRestartPolicy = "Always"
	// RestartOnFailure restarts failed containers in place.
	RestartOnFailure ReplicaRestartPolicy = "OnFailure"
	// RestartNever fails the job.
	RestartNever ReplicaRestartPolicy = "Never"
	// RestartExitCode decides by the exit code: 1 to 127 is permanent, 128 and more is not.
	RestartExitCode ReplicaRestartPolicy = "ExitCode"
)

// ReplicaDependency is a type that pods of another type wait for.
type ReplicaDependency struct {
	// Type is another type of the job.
	// +required
	Type ReplicaType `json:"type"`

	// Status is the required status of all its replicas. Ready: their pods are ready, or have succeeded. Complete: they
	// have succeeded. Default: Ready.
	// +optional
	// +kubebuilder:default=Ready
	Status DependencyStatus `json:"status,omitempty"`
}

// DependencyStatus is the required status of a dependency's replicas.
// +kubebuilder:validation:Enum=Ready;Complete
type DependencyStatus string

// The values of a dependency's status.
const (
	// DependencyReady: all replicas are ready, or have succeeded.
	DependencyReady DependencyStatus = "Ready"
	// DependencyComplete: all replicas have succeeded.
	DependencyComplete DependencyStatus = "Complete"
)

// ReplicaNetwork defines how replicas are reached.
type ReplicaNetwork struct {
	// ServicePerReplica creates a headless Service for each pod, with the pod's name and the ports of the type's default
	// container (the first of the template), as kubeflow's operators did. Default: false.
	// +optional
	ServicePerReplica bool `json:"servicePerReplica,omitempty"`
}

// ReplicaJobList is a list of ReplicaJobs.
//
// +kubebuilder:object:root=true
type ReplicaJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReplicaJob `json:"items"`
}
