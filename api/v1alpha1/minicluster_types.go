package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MiniCluster is an HPC cluster of pods: one leader and its workers, joined by Flux brokers, that runs one command, a
// batch of them, or waits for a user to log in. It ends when the leader ends, with the leader's exit code.
//
// The names of the fields are those of flux-operator's flux-framework.org/v1alpha2 where they have the same meaning, so
// that a manifest moves by a change of its apiVersion. The schema contains the unsupported fields of v1alpha2, so that
// they are refused with a message instead of being dropped.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size,selectorpath=.status.selector
// +kubebuilder:resource:shortName=mc
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=".spec.size"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=".status.readyPods"
// +kubebuilder:printcolumn:name="Exit",type=integer,JSONPath=".status.exitCode"
// +kubebuilder:printcolumn:name="Restarts",type=integer,priority=1,JSONPath=".status.restarts"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || (self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",optionalOldSelf=true,message="metadata.name must be at most 52 lower case letters, digits and '-', and begin with a letter: it is the name of the Service, and with a rank behind it that of each host"
// +kubebuilder:validation:XValidation:rule="!has(self.status) || !has(self.status.startTime) || !has(self.status.maximumSize) || self.spec.size <= self.status.maximumSize || self.spec.size == oldSelf.spec.size",message="spec.size is over the most that this MiniCluster was made for (status.maximumSize); set spec.maxSize when you create it"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.maxSize) ? self.spec.maxSize : 0) == (has(oldSelf.spec.maxSize) ? oldSelf.spec.maxSize : 0)",message="spec.maxSize can't be changed once the MiniCluster has started: it is in every broker's configuration"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (self.spec.containers == oldSelf.spec.containers && has(self.spec.flux) == has(oldSelf.spec.flux) && (!has(self.spec.flux) || self.spec.flux == oldSelf.spec.flux) && has(self.spec.pod) == has(oldSelf.spec.pod) && (!has(self.spec.pod) || self.spec.pod == oldSelf.spec.pod) && has(self.spec.network) == has(oldSelf.spec.network) && (!has(self.spec.network) || self.spec.network == oldSelf.spec.network))",message="spec.containers, flux, pod and network can't be changed once the MiniCluster has started; create another one"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (self.spec.tasks == oldSelf.spec.tasks && has(self.spec.interactive) == has(oldSelf.spec.interactive) && has(self.spec.services) == has(oldSelf.spec.services) && (!has(self.spec.services) || self.spec.services == oldSelf.spec.services) && has(self.spec.logging) == has(oldSelf.spec.logging) && (!has(self.spec.logging) || self.spec.logging == oldSelf.spec.logging) && has(self.spec.archive) == has(oldSelf.spec.archive) && (!has(self.spec.archive) || self.spec.archive == oldSelf.spec.archive) && has(self.spec.jobLabels) == has(oldSelf.spec.jobLabels) && (!has(self.spec.jobLabels) || self.spec.jobLabels == oldSelf.spec.jobLabels) && has(self.spec.resourceClaims) == has(oldSelf.spec.resourceClaims) && (!has(self.spec.resourceClaims) || self.spec.resourceClaims == oldSelf.spec.resourceClaims) && has(self.spec.shareProcessNamespace) == has(oldSelf.spec.shareProcessNamespace))",message="spec.tasks, interactive, services, logging, archive, jobLabels, resourceClaims and shareProcessNamespace can't be changed once the MiniCluster has started; create another one"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || !has(oldSelf.status.state) || !(oldSelf.status.state in ['Starting', 'Restarting']) || (has(self.spec.suspend) && self.spec.suspend) || (has(self.spec.flux) && has(self.spec.flux.disable) && self.spec.flux.disable) || ((has(self.spec.minSize) ? self.spec.minSize : 0) == (has(oldSelf.spec.minSize) ? oldSelf.spec.minSize : 0) && (self.spec.size >= oldSelf.spec.size || (has(self.spec.minSize) && self.spec.minSize > 0) || !has(oldSelf.status.startSize) || self.spec.size >= oldSelf.status.startSize))",message="until the MiniCluster runs, its brokers wait for the quorum that they were started with: spec.size can't go below it (minSize, or without it the size at the start), and minSize can't be changed; set spec.suspend to change them"
type MiniCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state: the cluster, and what it runs.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || self.minSize <= self.size",message="size is under minSize: the brokers would wait for pods that never come"
	Spec MiniClusterSpec `json:"spec"`

	// Status is the observed state. The operator writes it.
	// +optional
	Status MiniClusterStatus `json:"status,omitzero"`
}

// Conditions returns a pointer to the conditions in the status.
func (c *MiniCluster) Conditions() *[]metav1.Condition { return &c.Status.Conditions }

// MiniClusterSpec is the desired state of a MiniCluster.
//
// While it runs, size, minSize, suspend, deadlineSeconds, backoffLimit, ttlSecondsAfterFinished and cleanup can be
// changed. The rest can be changed until it starts.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxSize) || self.maxSize == 0 || self.size <= self.maxSize",message="size is over maxSize"
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || !has(self.maxSize) || self.maxSize == 0 || self.minSize <= self.maxSize",message="minSize is over maxSize"
// +kubebuilder:validation:XValidation:rule="self.containers.size() == 1 || self.containers.exists_one(c, has(c.runFlux) && c.runFlux)",message="with several containers exactly one must have runFlux: true; the others are sidecars"
// +kubebuilder:validation:XValidation:rule=`self.containers.size() == 1 || self.containers.all(c, (has(c.runFlux) && c.runFlux) || (has(c.name) && c.name != ""))`,message="a container without runFlux, a sidecar, needs a name"
// +kubebuilder:validation:XValidation:rule=`!has(self.services) || self.services.all(c, has(c.name) && c.name != "")`,message="each of services needs a name"
// +kubebuilder:validation:XValidation:rule="!has(self.flux) || !has(self.flux.disable) || !self.flux.disable || !has(self.interactive) || !self.interactive",message="interactive needs Flux: flux.disable must not be true"
type MiniClusterSpec struct {
	// Containers are the containers of each pod. One of them has runFlux and runs the command; a single container runs
	// it in any case. The others are sidecars: they start before it, and are stopped when it ends. A sidecar whose
	// command ends with exit code 0 is not started again. At least one, at most 16.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Containers []MiniClusterContainer `json:"containers"`

	// Services are containers of one additional pod beside the cluster, at <name>-services.<headless>: a database, a
	// registry. They need names. Of their commands only init, servicePre and post are accepted, and runFlux is refused.
	// The pod is replaced when it is lost, and deleted when the cluster ends. At most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Services []MiniClusterContainer `json:"services,omitempty"`

	// Size is the number of pods of the cluster, including the leader; kubectl scale changes it, down from the highest
	// ranks. At least 1, the default, and minSize; at most maxSize, and 10000. Without maxSize it can't exceed its first
	// value. Until the command starts it can't be below the brokers' quorum, except while it is suspended.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Size int32 `json:"size,omitempty"`

	// MinSize is the number of brokers that must have joined before the command starts (the quorum). 0, the default,
	// means size. It can't be changed while the brokers wait for it, except while the cluster is suspended.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MinSize int32 `json:"minSize,omitempty"`

	// MaxSize is the maximum of size. 0, the default, means the size that the cluster starts with. It can't be changed
	// after that.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MaxSize int32 `json:"maxSize,omitempty"`

	// Tasks is the number of copies of the command that Flux starts on the whole cluster (flux submit -n). If it is at
	// least size, they are spread over all nodes (-N). 0 starts one on each node. More tasks than cores by the limit of
	// cpu are refused, unless flux.optionFlags or submitCommand is set. A launcher or batch receives it in the variable
	// MINICLUSTER_TASKS. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Tasks *int32 `json:"tasks,omitempty"`

	// Interactive starts the brokers and runs no command: log in to the leader with kubectl exec and submit there. The
	// cluster stays until it is deleted, or ends with flux shutdown. A command and its options are then ignored, with a
	// warning. Default: false. A cluster without a command is interactive, too.
	// +optional
	Interactive bool `json:"interactive,omitempty"`

	// DeadlineSeconds is the maximum time of the cluster in seconds from its admission, including restarts. When it
	// expires, the cluster fails, with reason DeadlineExceeded. Time in which it is suspended doesn't count: the
	// deadline starts again when it is resumed. Default: no deadline.
	// +optional
	// +kubebuilder:validation:Minimum=1
	DeadlineSeconds *int64 `json:"deadlineSeconds,omitempty"`

	// BackoffLimit is the number of restarts of the whole cluster after the leader failed or was lost. Default: 0, no
	// restart. Workers don't count: a lost worker is replaced and joins again. A worker that can't start fails the
	// cluster at once (see logging.strict).
	// +optional
	// +kubebuilder:validation:Minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// Suspend stops the cluster: its pods are deleted, and created again, from the start, once it is false. Default:
	// false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds between the end of the MiniCluster and its deletion, with all its
	// children. Default: it is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// Cleanup deletes pods, configuration, certificate and Service when the cluster has ended; its status stays, and the
	// logs are lost. Default: false, which keeps the ended pods with their logs, and all other children until the
	// MiniCluster is deleted.
	// +optional
	Cleanup bool `json:"cleanup,omitempty"`

	// ManagedBy names the controller that runs this MiniCluster. With another value than api.practice.com/armature, the
	// default, the operator ignores it. It can't be changed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="managedBy can't be changed"
	ManagedBy *string `json:"managedBy,omitempty"`

	// JobLabels are labels of the Job, and of its pods, besides pod.labels, which take precedence. Those that the
	// operator or the Job sets itself are refused.
	// +optional
	JobLabels map[string]string `json:"jobLabels,omitempty"`

	// Flux defines how the brokers are found, configured and started.
	// +optional
	Flux MiniClusterFlux `json:"flux,omitzero"`

	// Logging defines what the scripts and the brokers print to the pods' logs.
	// +optional
	Logging MiniClusterLogging `json:"logging,omitzero"`

	// Network defines how the pods find each other.
	// +optional
	Network MiniClusterNetwork `json:"network,omitzero"`

	// Archive preserves Flux's content from one cluster to the next.
	// +optional
	Archive MiniClusterArchive `json:"archive,omitzero"`

	// Pod defines fields of all pods of the cluster.
	// +optional
	Pod MiniClusterPod `json:"pod,omitzero"`

	// ShareProcessNamespace lets the containers of a pod access each other's processes. Default: false.
	// +optional
	ShareProcessNamespace bool `json:"shareProcessNamespace,omitempty"`

	// ResourceClaims are device claims of each pod, for the containers' resources.claims.
	// +optional
	// +listType=map
	// +listMapKey=name
	ResourceClaims []corev1.PodResourceClaim `json:"resourceClaims,omitempty"`
}

// MiniClusterNetwork defines how the pods of a MiniCluster find each other.
type MiniClusterNetwork struct {
	// HeadlessName is the name of the headless Service, and the domain of the pods' host names. No other Service of the
	// namespace may have it: the operator leaves a Service of another owner alone, and the cluster doesn't start.
	// Default: the MiniCluster's name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`
	HeadlessName string `json:"headlessName,omitempty"`

	// Interface is the network interface that the brokers listen on. Default: eth0.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[-_.:a-zA-Z0-9]*$`
	Interface string `json:"interface,omitempty"`

	// Domain is the cluster's DNS domain. Default: cluster.local.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Domain string `json:"domain,omitempty"`

	// DisableAffinity removes the preference for one pod on each node, in one zone. Default: false.
	// +optional
	DisableAffinity bool `json:"disableAffinity,omitempty"`
}

// MiniClusterLogging defines the content of the pods' logs.
type MiniClusterLogging struct {
	// Quiet prints only the output of the command itself: nothing of the scripts, nothing of init and pre commands, and
	// only emergencies of the brokers. Default: false.
	// +optional
	Quiet bool `json:"quiet,omitempty"`

	// Strict ends a script at the first of its commands (init, pre, brokerPre, workerPre) that fails. Without it
	// failures are ignored; the command's own exit code always counts. A worker that ends in this way is replaced; if 6
	// pods of a rank end so before the command starts, and the quorum needs them, the cluster fails. Default: false.
	// +optional
	Strict bool `json:"strict,omitempty"`

	// Debug makes flux submit print more (-vvv). Default: false.
	// +optional
	Debug bool `json:"debug,omitempty"`

	// Zeromq logs the activity of the brokers' sockets. Default: false.
	// +optional
	Zeromq bool `json:"zeromq,omitempty"`

	// Timed prints the duration of flux start and flux submit, in seconds of wall time, as lines that begin with
	// FLUXTIME. Default: false.
	// +optional
	Timed bool `json:"timed,omitempty"`
}

// MiniClusterArchive preserves Flux's content from one cluster to the next.
type MiniClusterArchive struct {
	// Path is a file in a volume of the leader. If it exists when the leader starts, Flux restores its content from it
	// (-Scontent.restore). Dump it with flux dump before you end the cluster. Default: nothing is restored.
	// +optional
	Path string `json:"path,omitempty"`
}

// MiniClusterList is a list of MiniClusters.
//
// +kubebuilder:object:root=true
type MiniClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MiniCluster `json:"items"`
}
