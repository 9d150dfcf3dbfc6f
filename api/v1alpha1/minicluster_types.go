package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MiniCluster is an HPC cluster of pods: one leader and its workers, joined by Flux brokers, that runs one command, a
// batch of them, or waits for a person to log in. It ends when the leader does, with the leader's exit code.
//
// The names of the fields are those of flux-operator's flux-framework.org/v1alpha2 where they mean the same, so that a
// manifest moves by changing its apiVersion. Fields of v1alpha2 that aren't honoured are in the schema all the same, so
// that they are refused with a message instead of being dropped.
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be at most 52 lower case letters, digits and '-', and begin with a letter: it is the name of the Service, and with a rank behind it that of each host"
// +kubebuilder:validation:XValidation:rule="!has(self.status) || !has(self.status.startTime) || !has(self.status.maximumSize) || self.spec.size <= self.status.maximumSize",message="spec.size is over the most that this MiniCluster was made for (status.maximumSize); set spec.maxSize when you create it"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.spec.maxSize) ? self.spec.maxSize : 0) == (has(oldSelf.spec.maxSize) ? oldSelf.spec.maxSize : 0)",message="spec.maxSize can't be changed once the MiniCluster has started: it is in every broker's configuration"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (self.spec.containers == oldSelf.spec.containers && has(self.spec.flux) == has(oldSelf.spec.flux) && (!has(self.spec.flux) || self.spec.flux == oldSelf.spec.flux) && has(self.spec.pod) == has(oldSelf.spec.pod) && (!has(self.spec.pod) || self.spec.pod == oldSelf.spec.pod) && has(self.spec.network) == has(oldSelf.spec.network) && (!has(self.spec.network) || self.spec.network == oldSelf.spec.network))",message="spec.containers, flux, pod and network can't be changed once the MiniCluster has started; create another one"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (self.spec.tasks == oldSelf.spec.tasks && has(self.spec.interactive) == has(oldSelf.spec.interactive) && has(self.spec.services) == has(oldSelf.spec.services) && (!has(self.spec.services) || self.spec.services == oldSelf.spec.services) && has(self.spec.logging) == has(oldSelf.spec.logging) && (!has(self.spec.logging) || self.spec.logging == oldSelf.spec.logging) && has(self.spec.archive) == has(oldSelf.spec.archive) && (!has(self.spec.archive) || self.spec.archive == oldSelf.spec.archive) && has(self.spec.jobLabels) == has(oldSelf.spec.jobLabels) && (!has(self.spec.jobLabels) || self.spec.jobLabels == oldSelf.spec.jobLabels) && has(self.spec.resourceClaims) == has(oldSelf.spec.resourceClaims) && (!has(self.spec.resourceClaims) || self.spec.resourceClaims == oldSelf.spec.resourceClaims) && has(self.spec.shareProcessNamespace) == has(oldSelf.spec.shareProcessNamespace))",message="spec.tasks, interactive, services, logging, archive, jobLabels, resourceClaims and shareProcessNamespace can't be changed once the MiniCluster has started; create another one"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || !has(oldSelf.status.state) || !(oldSelf.status.state in ['Starting', 'Restarting']) || (has(self.spec.suspend) && self.spec.suspend) || (has(self.spec.flux) && has(self.spec.flux.disable) && self.spec.flux.disable) || ((has(self.spec.minSize) ? self.spec.minSize : 0) == (has(oldSelf.spec.minSize) ? oldSelf.spec.minSize : 0) && (self.spec.size >= oldSelf.spec.size || (has(self.spec.minSize) && self.spec.minSize > 0) || !has(oldSelf.status.startSize) || self.spec.size >= oldSelf.status.startSize))",message="until the MiniCluster runs, its brokers wait for the quorum that they were started with: spec.size can't go below it (minSize, or without it the size at the start), and minSize can't be changed; set spec.suspend to change them"
type MiniCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the cluster to make and what to run on it.
	// +required
	Spec MiniClusterSpec `json:"spec"`

	// Status is how far the cluster has come. It is written by the operator.
	// +optional
	Status MiniClusterStatus `json:"status,omitzero"`
}

// Conditions returns the place of the conditions in the status.
func (c *MiniCluster) Conditions() *[]metav1.Condition { return &c.Status.Conditions }

// MiniClusterSpec is a cluster and what runs on it.
//
// While it runs, size, minSize, suspend, deadlineSeconds, backoffLimit, ttlSecondsAfterFinished and cleanup can be
// changed. The rest can be changed until it starts.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxSize) || self.maxSize == 0 || self.size <= self.maxSize",message="size is over maxSize"
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || self.minSize <= self.size",message="size is under minSize: the brokers would wait for pods that never come"
// +kubebuilder:validation:XValidation:rule="self.containers.size() == 1 || self.containers.exists_one(c, has(c.runFlux) && c.runFlux)",message="with several containers exactly one must have runFlux: true; the others are sidecars"
// +kubebuilder:validation:XValidation:rule=`self.containers.size() == 1 || self.containers.all(c, (has(c.runFlux) && c.runFlux) || (has(c.name) && c.name != ""))`,message="a container without runFlux, a sidecar, needs a name"
// +kubebuilder:validation:XValidation:rule=`!has(self.services) || self.services.all(c, has(c.name) && c.name != "")`,message="each of services needs a name"
// +kubebuilder:validation:XValidation:rule="!has(self.flux) || !has(self.flux.disable) || !self.flux.disable || !has(self.interactive) || !self.interactive",message="interactive needs Flux: flux.disable must not be true"
type MiniClusterSpec struct {
	// Containers are those of each pod. One of them has runFlux and does the work; with a single container it is that
	// one, whatever it says. The others are sidecars: they start before it, and are stopped when it ends, whatever they
	// do. A sidecar whose command ends with exit code 0 is not started again. At least one, at most 16.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Containers []MiniClusterContainer `json:"containers"`

	// Services are containers of one more pod beside the cluster, at <name>-services.<headless>: a database, a registry.
	// They need names. Of their commands only init, servicePre and post are honoured, others are refused, and so is runFlux.
	// The pod is replaced when it is lost, and goes when the cluster ends. At most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Services []MiniClusterContainer `json:"services,omitempty"`

	// Size is how many pods the cluster has, the leader included; kubectl scale changes it, down by the highest ranks.
	// At least 1, the default, and minSize; at most maxSize, and 10000. Without maxSize it can't grow beyond its first value. Until the
	// work begins it can't go below the quorum, for which the brokers wait, except while it is suspended.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Size int32 `json:"size,omitempty"`

	// MinSize is how many brokers must be there for the work to begin (the quorum). 0, the default, means size. It can't be
	// changed while the brokers wait for it, but for while the cluster is suspended.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinSize int32 `json:"minSize,omitempty"`

	// MaxSize is the most that size can be scaled to. 0, the default, means the size that the cluster starts with.
	// It can't be changed after that.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MaxSize int32 `json:"maxSize,omitempty"`

	// Tasks is how many copies of the command Flux starts on the whole cluster (flux submit -n). If it is at least size,
	// they are spread over all nodes (-N). 0 starts one on each node. More than there are cores by the limit of cpu is
	// refused, unless flux.optionFlags or submitCommand is set. A launcher or batch finds it in the variable
	// MINICLUSTER_TASKS. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Tasks *int32 `json:"tasks,omitempty"`

	// Interactive starts the brokers and runs no command: log in to the leader with kubectl exec and submit there. The
	// cluster stays until it is deleted, or ends with flux shutdown. A command, and what is said of how to run it, is
	// ignored then, with a warning. Default: false. A cluster without a command is interactive, too.
	// +optional
	Interactive bool `json:"interactive,omitempty"`

	// DeadlineSeconds is how long the cluster may exist, in seconds from its admission, restarts included. Then it
	// fails, with reason DeadlineExceeded. Time in which it is suspended doesn't count: the deadline begins anew when it
	// is resumed. Default: no deadline.
	// +optional
	// +kubebuilder:validation:Minimum=1
	DeadlineSeconds *int64 `json:"deadlineSeconds,omitempty"`

	// BackoffLimit is how often the whole cluster is started again after the leader failed or was lost, before it has
	// failed for good. Default: 0, never. Workers don't count: one that is lost is replaced and joins again. One that can't
	// be started at all fails the cluster at once (see logging.strict).
	// +optional
	// +kubebuilder:validation:Minimum=0
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`

	// Suspend stops the cluster: its pods are deleted, and made again, from the start, once it is false. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// TTLSecondsAfterFinished is how long the MiniCluster is kept after its end, in seconds; then it is deleted, with all
	// it has. Default: for ever.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// Cleanup deletes pods, configuration, certificate and Service when the cluster has ended; its status stays, the logs
	// go. Default: false, which keeps the ended pods with their logs, and all else until the MiniCluster is deleted.
	// +optional
	Cleanup bool `json:"cleanup,omitempty"`

	// ManagedBy names the controller that runs this MiniCluster. Default: api.practice.com/armature, this operator.
	// With another name the operator leaves it alone. It can't be changed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="managedBy can't be changed"
	ManagedBy *string `json:"managedBy,omitempty"`

	// JobLabels are labels of the Job, and of its pods, besides pod.labels, which go before them. Those that the operator
	// or the Job sets itself are refused.
	// +optional
	JobLabels map[string]string `json:"jobLabels,omitempty"`

	// Flux says how the brokers are found, configured and started.
	// +optional
	Flux MiniClusterFlux `json:"flux,omitzero"`

	// Logging says how much the scripts and the brokers tell in the pods' logs.
	// +optional
	Logging MiniClusterLogging `json:"logging,omitzero"`

	// Network is how the pods find each other.
	// +optional
	Network MiniClusterNetwork `json:"network,omitzero"`

	// Archive keeps what Flux knows from one cluster to the next.
	// +optional
	Archive MiniClusterArchive `json:"archive,omitzero"`

	// Pod is what all pods of the cluster have.
	// +optional
	Pod MiniClusterPod `json:"pod,omitzero"`

	// ShareProcessNamespace lets the containers of a pod see each other's processes. Default: false.
	// +optional
	ShareProcessNamespace bool `json:"shareProcessNamespace,omitempty"`

	// ResourceClaims are device claims of each pod, for containers' resources.claims to name.
	// +optional
	// +listType=map
	// +listMapKey=name
	ResourceClaims []corev1.PodResourceClaim `json:"resourceClaims,omitempty"`
}

// MiniClusterNetwork is how the pods of a MiniCluster find each other.
type MiniClusterNetwork struct {
	// HeadlessName is the name of the headless Service, and the domain of the pods' host names. It must be a name that
	// no other Service of the namespace has: a Service of someone else is left alone, and the cluster doesn't start.
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

	// DisableAffinity takes away the preference for one pod a node, in one zone. Default: false.
	// +optional
	DisableAffinity bool `json:"disableAffinity,omitempty"`
}

// MiniClusterLogging says how much is told in the pods' logs.
type MiniClusterLogging struct {
	// Quiet leaves only what the command itself prints: nothing of the scripts, nothing of init and pre commands, and of
	// the brokers only emergencies. Default: false.
	// +optional
	Quiet bool `json:"quiet,omitempty"`

	// Strict ends a script at the first of its commands (init, pre, brokerPre, workerPre) that fails. Without it they may
	// fail; the command's own exit code counts either way. A worker that ends so is replaced; if 6 pods of a rank did before the
	// work has begun, and without it there is no quorum, the cluster has failed. Default: false.
	// +optional
	Strict bool `json:"strict,omitempty"`

	// Debug makes flux submit tell more (-vvv). Default: false.
	// +optional
	Debug bool `json:"debug,omitempty"`

	// Zeromq logs what the brokers' sockets do. Default: false.
	// +optional
	Zeromq bool `json:"zeromq,omitempty"`

	// Timed prints how long flux start and flux submit took, in seconds of wall time, as lines that begin with FLUXTIME.
	// Default: false.
	// +optional
	Timed bool `json:"timed,omitempty"`
}

// MiniClusterArchive keeps what Flux knows from one cluster to the next.
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
