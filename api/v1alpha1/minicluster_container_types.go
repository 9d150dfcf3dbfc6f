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
	// Image is what the container runs.
	// +required
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`

	// Name is the container's name. A sidecar and a service need one. Default: the MiniCluster's name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Name string `json:"name,omitempty"`

	// Command is what to run, as you would type it in a shell: words, quotes, variables and pipes as in sh. With batch
	// each line is a job. Without a command the cluster is interactive; a sidecar or service runs its image's own.
	// +optional
	Command string `json:"command,omitempty"`

	// WorkingDir is where the command runs. Default: the image's.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`

	// Environment is set in the container. References such as $(OTHER) are expanded by Kubernetes.
	// +optional
	Environment map[string]string `json:"environment,omitempty"`

	// Secrets are variables of the environment whose values are in Secrets of the namespace, by the variable's name.
	// +optional
	Secrets map[string]MiniClusterSecret `json:"secrets,omitempty"`

	// Ports that the container listens on. Port 8050 is the brokers'.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`

	// Resources are the container's requests and limits. The whole cores of the runFlux container's limit and its GPUs
	// (nvidia.com/gpu and all others that are called gpu) are what Flux believes a node to have. Without a limit of cpu it
	// believes that each pod has all cores of the leader's node. Default: no requests and no limits.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// Volumes are mounted into the container, by their names. Containers that name the same volume share it, and must
	// say the same of it, but for path and readOnly. At most 64.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Volumes map[string]MiniClusterVolume `json:"volumes,omitempty"`

	// Commands are run before and after the work.
	// +optional
	Commands MiniClusterCommands `json:"commands,omitzero"`

	// Launcher says that the command submits jobs itself (nextflow, snakemake): it is run once, by the leader, inside of
	// Flux, and isn't submitted. Default: false.
	// +optional
	Launcher bool `json:"launcher,omitempty"`

	// Batch says that the command is a list of jobs, one a line, which are submitted all together. The cluster succeeds
	// if all of them do. Empty lines and lines that begin with # are skipped. Default: false.
	// +optional
	Batch bool `json:"batch,omitempty"`

	// BatchRaw says that the lines of a batch are a script that does the submitting itself. The cluster waits for all
	// jobs. Default: false.
	// +optional
	BatchRaw bool `json:"batchRaw,omitempty"`

	// Logs is a directory for the output of the jobs of a batch, job-<i>.out and job-<i>.err. Default: /tmp/fluxout.
	// +optional
	Logs string `json:"logs,omitempty"`

	// RunFlux marks the container that does the work, if there are several. Default: false.
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

	// PullAlways is another way to say imagePullPolicy: Always. Default: false.
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

// MiniClusterCommands are run before and after the work of a MiniCluster, each as a piece of sh script. What they print
// is in the log, unless logging.quiet is set (but for post); that they fail ends the pod's work only with logging.strict.
// One that ends its shell (exit 5) ends the pod, with this exit code if it is the leader's, and the status says so.
type MiniClusterCommands struct {
	// Init runs first of all, before Flux is looked for, in every pod. Default: nothing.
	// +optional
	Init string `json:"init,omitempty"`

	// Pre runs in every pod before the broker starts; what it exports, the command sees. Default: nothing.
	// +optional
	Pre string `json:"pre,omitempty"`

	// BrokerPre runs after pre, in the leader only. Default: nothing.
	// +optional
	BrokerPre string `json:"brokerPre,omitempty"`

	// WorkerPre runs after pre, in the workers only. Default: nothing.
	// +optional
	WorkerPre string `json:"workerPre,omitempty"`

	// Post runs when the broker has ended, in every pod that isn't killed, in a shell of its own. The exit code is the
	// command's, whatever becomes of it, and logging.quiet doesn't silence it. In a sidecar or service it runs after its
	// command, or in place of one. Default: nothing.
	// +optional
	Post string `json:"post,omitempty"`

	// Prefix is put before the submit command, or before the launcher, inside of Flux: a wrapper, such as a tracer.
	// Default: nothing.
	// +optional
	Prefix string `json:"prefix,omitempty"`

	// Script is a script that is run in place of a command. A first line with #! says by what, sh otherwise.
	// +optional
	Script string `json:"script,omitempty"`

	// ServicePre runs before a sidecar's or a service's command, in its container. Default: nothing.
	// +optional
	ServicePre string `json:"servicePre,omitempty"`
}

// MiniClusterLifeCycle are commands that Kubernetes runs in a container, by sh.
type MiniClusterLifeCycle struct {
	// PostStartExec is run right after the container's start, and beside its command. Default: nothing.
	// +optional
	PostStartExec string `json:"postStartExec,omitempty"`

	// PreStopExec is run before the container is stopped from outside. Default: nothing.
	// +optional
	PreStopExec string `json:"preStopExec,omitempty"`
}

// MiniClusterSecret is where the value of a variable is kept.
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

// MiniClusterVolume is something to mount. One of hostPath, configMapName, secretName, claimName, emptyDir and csiDriver
// says what it is.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.hostPath) && self.hostPath != "" ? 1 : 0) + (has(self.configMapName) && self.configMapName != "" ? 1 : 0) + (has(self.secretName) && self.secretName != "" ? 1 : 0) + (has(self.claimName) && self.claimName != "" ? 1 : 0) + (has(self.emptyDir) && self.emptyDir ? 1 : 0) + (has(self.csiDriver) && self.csiDriver != "" ? 1 : 0) == 1`,message="exactly one of hostPath, configMapName, secretName, claimName, emptyDir and csiDriver must be set"
type MiniClusterVolume struct {
	// Path is where it is mounted. Default for a ConfigMap or Secret: /mnt/<name of the volume>; the others need one.
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

	// Items are which keys of the ConfigMap or Secret are mounted, and under which path. Default: all.
	// +optional
	Items map[string]string `json:"items,omitempty"`

	// ClaimName is the name of a PersistentVolumeClaim of the namespace.
	// +optional
	ClaimName string `json:"claimName,omitempty"`

	// EmptyDir is a directory that lives as long as the pod. Default: false.
	// +optional
	EmptyDir bool `json:"emptyDir,omitempty"`

	// EmptyDirMedium is Memory (or memory, as in flux-operator), or the default, the node's own.
	// +optional
	// +kubebuilder:validation:Enum="";Memory;memory;HugePages
	EmptyDirMedium string `json:"emptyDirMedium,omitempty"`

	// EmptyDirSizeLimit is how much it may hold, such as 1Gi. Default: no limit.
	// +optional
	EmptyDirSizeLimit string `json:"emptyDirSizeLimit,omitempty"`

	// CSIDriver is the name of a CSI driver that makes a volume for each pod.
	// +optional
	CSIDriver string `json:"csiDriver,omitempty"`

	// CSIDriverAttributes are what the driver is told.
	// +optional
	CSIDriverAttributes map[string]string `json:"csiDriverAttributes,omitempty"`
}
