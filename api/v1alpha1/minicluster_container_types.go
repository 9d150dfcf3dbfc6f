package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// MiniClusterContainer is a container of each pod of a MiniCluster, or of its services pod.
//
// +kubebuilder:validation:XValidation:rule="!has(self.launcher) || !self.launcher || !has(self.batch) || !self.batch",message="launcher and batch exclude each other: a launcher submits its own jobs, a batch is submitted line by line"
// +kubebuilder:validation:XValidation:rule="!has(self.batchRaw) || !self.batchRaw || (has(self.batch) && self.batch)",message="batchRaw needs batch: true"
// +kubebuilder:validation:XValidation:rule=`!has(self.batch) || !self.batch || (has(self.command) && self.command != "")`,message="batch needs a command, with one job a line"
// +kubebuilder:validation:XValidation:rule=`!has(self.commands) || !has(self.commands.script) || self.commands.script == "" || !has(self.command) || self.command == ""`,message="command and commands.script exclude each other"
// +kubebuilder:validation:XValidation:rule=`!has(self.pullAlways) || !self.pullAlways || !has(self.imagePullPolicy) || self.imagePullPolicy == "" || self.imagePullPolicy == 'Always'`,message="pullAlways and imagePullPolicy contradict each other"
type MiniClusterContainer struct {
	// Image is the image of the container.
	// +required
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`

	// Name is the container's name. A sidecar and a service need one. Default: the MiniCluster's name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Name string `json:"name,omitempty"`

	// Command is the command to run, in shell syntax: words, quotes, variables and pipes as in sh. With batch each line
	// is a job. Without a command the cluster is interactive; a sidecar or service runs its image's own.
	// +optional
	Command string `json:"command,omitempty"`

	// WorkingDir is the working directory of the command. Default: the image's.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`

	// Environment is set in the container. References such as $(OTHER) are expanded by Kubernetes.
	// +optional
	Environment map[string]string `json:"environment,omitempty"`

	// Secrets are environment variables whose values are in Secrets of the namespace, by the variable's name.
	// +optional
	Secrets map[string]MiniClusterSecret `json:"secrets,omitempty"`

	// Ports that the container listens on. Port 8050 is the brokers'.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`

	// Resources are the container's requests and limits. Flux assumes that each node has the whole cores of the runFlux
	// container's limit and its GPUs (nvidia.com/gpu and all others that are called gpu). Without a limit of cpu it
	// assumes that each pod has all cores of the leader's node. Default: no requests and no limits.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// Volumes are mounted into the container, by their names. Containers that name the same volume share it, and must
	// define it equally, except for path and readOnly. At most 64.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Volumes map[string]MiniClusterVolume `json:"volumes,omitempty"`

	// Commands are run before and after the container's command.
	// +optional
	Commands MiniClusterCommands `json:"commands,omitzero"`

	// Launcher says that the command submits jobs itself (nextflow, snakemake): the leader runs it once inside Flux, and
	// doesn't submit it. Default: false.
	// +optional
	Launcher bool `json:"launcher,omitempty"`

	// Batch says that the command is a list of jobs, one on each line, which are submitted together. The cluster
	// succeeds if all of them do. Empty lines and lines that begin with # are skipped. Default: false.
	// +optional
	Batch bool `json:"batch,omitempty"`

	// BatchRaw says that the lines of a batch are a script that submits the jobs itself. The cluster waits for all jobs.
	// Default: false.
	// +optional
	BatchRaw bool `json:"batchRaw,omitempty"`

	// Logs is a directory for the output of the jobs of a batch, job-<i>.out and job-<i>.err. Default: /tmp/fluxout.
	// +optional
	Logs string `json:"logs,omitempty"`

	// RunFlux selects the container that runs Flux and the command, if there are several. Default: false.
	// +optional
	RunFlux bool `json:"runFlux,omitempty"`

	// NoWrapEntrypoint runs a sidecar's or service's command without commands.init and servicePre and without Flux on its
	// PATH. The runFlux container is always wrapped: there it is refused. Default: false.
	// +optional
	NoWrapEntrypoint bool `json:"noWrapEntrypoint,omitempty"`

	// ImagePullPolicy is Always, IfNotPresent or Never. Default: Kubernetes' own, which depends on the image's tag.
	// +optional
	// +kubebuilder:validation:Enum="";Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// PullAlways is the same as imagePullPolicy: Always. Default: false.
	// +optional
	PullAlways bool `json:"pullAlways,omitempty"`

	// ImagePullSecret is the name of a Secret of the namespace to pull the image with. Default: none.
	// +optional
	ImagePullSecret string `json:"imagePullSecret,omitempty"`

	// LifeCycle are commands that Kubernetes runs in the container after its start and before its stop.
	// +optional
	LifeCycle MiniClusterLifeCycle `json:"lifeCycle,omitzero"`

	// SecurityContext is the container's.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// MiniClusterCommands are scripts that run before and after the command of a MiniCluster, in sh. Their output is in the
// log, unless logging.quiet is set (except for post); a failure ends the pod's work only with logging.strict. A script
// that exits its shell (exit 5) ends the pod, with this exit code if it is the leader's, and the status says so.
type MiniClusterCommands struct {
	// Init runs first, before the search for Flux, in every pod. Default: nothing.
	// +optional
	Init string `json:"init,omitempty"`

	// Pre runs in every pod before the broker starts; the command inherits the variables that it exports. Default:
	// nothing.
	// +optional
	Pre string `json:"pre,omitempty"`

	// BrokerPre runs after pre, in the leader only. Default: nothing.
	// +optional
	BrokerPre string `json:"brokerPre,omitempty"`

	// WorkerPre runs after pre, in the workers only. Default: nothing.
	// +optional
	WorkerPre string `json:"workerPre,omitempty"`

	// Post runs when the broker has ended, in every pod that isn't killed, in a separate shell. The exit code is the
	// command's, regardless of post, and logging.quiet doesn't suppress its output. In a sidecar or service it runs
	// after its command, or in place of one. Default: nothing.
	// +optional
	Post string `json:"post,omitempty"`

	// Prefix is put before the submit command, or before the launcher, inside of Flux: a wrapper, such as a tracer.
	// Default: nothing.
	// +optional
	Prefix string `json:"prefix,omitempty"`

	// Script is a script that runs in place of a command. A first line with #! names its interpreter, sh by default.
	// +optional
	Script string `json:"script,omitempty"`

	// ServicePre runs before a sidecar's or a service's command, in its container. Default: nothing.
	// +optional
	ServicePre string `json:"servicePre,omitempty"`
}

// MiniClusterLifeCycle are commands that Kubernetes runs in a container, by sh.
type MiniClusterLifeCycle struct {
	// PostStartExec runs right after the container's start, in parallel with its command. Default: nothing.
	// +optional
	PostStartExec string `json:"postStartExec,omitempty"`

	// PreStopExec runs before Kubernetes stops the container. Default: nothing.
	// +optional
	PreStopExec string `json:"preStopExec,omitempty"`
}

// MiniClusterSecret is the source of a variable's value.
type MiniClusterSecret struct {
	// Name is the Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Key is the key in the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	Key string `json:"key"`
}

// MiniClusterVolume is a volume to mount. Exactly one of hostPath, configMapName, secretName, claimName, emptyDir and
// csiDriver defines it.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.hostPath) && self.hostPath != "" ? 1 : 0) + (has(self.configMapName) && self.configMapName != "" ? 1 : 0) + (has(self.secretName) && self.secretName != "" ? 1 : 0) + (has(self.claimName) && self.claimName != "" ? 1 : 0) + (has(self.emptyDir) && self.emptyDir ? 1 : 0) + (has(self.csiDriver) && self.csiDriver != "" ? 1 : 0) == 1`,message="exactly one of hostPath, configMapName, secretName, claimName, emptyDir and csiDriver must be set"
type MiniClusterVolume struct {
	// Path is the mount path. Default for a ConfigMap or Secret: /mnt/<name of the volume>; required for others.
	// +optional
	Path string `json:"path,omitempty"`

	// ReadOnly mounts it read-only. Default: false.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`

	// HostPath is a path on the node.
	// +optional
	HostPath string `json:"hostPath,omitempty"`

	// ConfigMapName is the name of a ConfigMap of the namespace.
	// +optional
	ConfigMapName string `json:"configMapName,omitempty"`

	// SecretName is the name of a Secret of the namespace.
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// Items select the keys of the ConfigMap or Secret that are mounted, with their paths. Default: all.
	// +optional
	Items map[string]string `json:"items,omitempty"`

	// ClaimName is the name of a PersistentVolumeClaim of the namespace.
	// +optional
	ClaimName string `json:"claimName,omitempty"`

	// EmptyDir is a directory that exists as long as the pod. Default: false.
	// +optional
	EmptyDir bool `json:"emptyDir,omitempty"`

	// EmptyDirMedium is Memory (or memory, as in flux-operator), or the default, the node's own.
	// +optional
	// +kubebuilder:validation:Enum="";Memory;memory;HugePages
	EmptyDirMedium string `json:"emptyDirMedium,omitempty"`

	// EmptyDirSizeLimit is its maximum size, such as 1Gi. Default: no limit.
	// +optional
	EmptyDirSizeLimit string `json:"emptyDirSizeLimit,omitempty"`

	// CSIDriver is the name of a CSI driver that creates a volume for each pod.
	// +optional
	CSIDriver string `json:"csiDriver,omitempty"`

	// CSIDriverAttributes are the attributes that the driver receives.
	// +optional
	CSIDriverAttributes map[string]string `json:"csiDriverAttributes,omitempty"`
}
