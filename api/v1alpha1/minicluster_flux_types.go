package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// MiniClusterFlux defines how the brokers of a MiniCluster are found, configured and started.
//
// The fields mungeSecret, bursting, arch and disableSocket of flux-operator are refused.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.mungeSecret) || self.mungeSecret == ""`,message="flux.mungeSecret is not supported: there is no bursting to other clusters"
// +kubebuilder:validation:XValidation:rule="!has(self.bursting)",message="flux.bursting is not supported: a MiniCluster is one cluster; give flux.brokerConfig to join others"
// +kubebuilder:validation:XValidation:rule=`!has(self.arch) || self.arch == ""`,message="flux.arch is not supported: nothing is downloaded when a pod starts; choose flux.container.image for the architecture"
// +kubebuilder:validation:XValidation:rule="!has(self.disableSocket) || !self.disableSocket",message="flux.disableSocket is not supported: readiness and kubectl exec need the broker's socket"
// +kubebuilder:validation:XValidation:rule=`!has(self.brokerConfig) || self.brokerConfig == "" || !has(self.scheduler) || !has(self.scheduler.queuePolicy) || self.scheduler.queuePolicy == ""`,message="flux.scheduler.queuePolicy has no effect beside flux.brokerConfig: put it there"
type MiniClusterFlux struct {
	// Disable runs the cluster without Flux: there are no brokers; the leader alone runs the command, which may start
	// processes on the other pods, and the workers wait until the leader has ended. Interactive, batch and the other
	// fields of flux are then refused. Default: false.
	// +optional
	Disable bool `json:"disable,omitempty"`

	// Container is the source of Flux.
	// +optional
	Container MiniClusterFluxContainer `json:"container,omitzero"`

	// OptionFlags are additional flags of the submit command, in shell syntax, such as -ompi=openmpi
	// --setattr=user.study=a. Default: none.
	// +optional
	OptionFlags string `json:"optionFlags,omitempty"`

	// SubmitCommand replaces "flux submit", in shell syntax. The flags -N, -n, --quiet and --watch and the command
	// follow it. Default: flux submit.
	// +optional
	SubmitCommand string `json:"submitCommand,omitempty"`

	// Wrap is the program that starts each broker (flux start --wrap), such as strace,-e,network,-tt. Default: nothing.
	// +optional
	Wrap string `json:"wrap,omitempty"`

	// ConnectTimeout is the time for which a broker tries to reach its parent before it is restarted, as a Flux duration
	// (5s, 2m). Default: 5s.
	// +optional
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h|d)?)?$`
	ConnectTimeout string `json:"connectTimeout,omitempty"`

	// LogLevel is the log level of the brokers: 0 emergencies, 3 errors, 6 information, 7 debugging. Default: 6; with
	// logging.quiet it is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=7
	LogLevel *int32 `json:"logLevel,omitempty"`

	// Topology is the shape of the brokers' tree (-Stbon.topo), such as kary:2 or binomial. Default: kary:256, that is,
	// up to 256 workers join the leader, and more workers form a tree of that width.
	// +optional
	// +kubebuilder:validation:Pattern=`^([a-z]+(:[0-9a-z]+)?)?$`
	Topology string `json:"topology,omitempty"`

	// BrokerConfig is the whole broker.toml, in place of the operator's. The scripts write the certificate's path into
	// its curve_cert. If its resource path names a file R that doesn't exist, they create one with the cores of the
	// node. Default: the operator's.
	// +optional
	BrokerConfig string `json:"brokerConfig,omitempty"`

	// CurveCert is the content of a certificate by which the brokers trust each other, as flux keygen writes it. Every
	// user who may read the MiniCluster can read it. Default: the operator generates one and stores it only in a Secret.
	// +optional
	CurveCert string `json:"curveCert,omitempty"`

	// Environment is set in the container that runs Flux. Variables of the container itself take precedence.
	// +optional
	Environment map[string]string `json:"environment,omitempty"`

	// Scheduler configures Flux's scheduler.
	// +optional
	Scheduler MiniClusterScheduler `json:"scheduler,omitzero"`

	// MinimalService gives only the leader a DNS name, which reduces the load on DNS in a big cluster. Workers find the
	// leader; nothing finds workers by name. Default: false.
	// +optional
	MinimalService bool `json:"minimalService,omitempty"`

	// CompleteWorkers lets a worker end when its broker ends, instead of restarting it. Default: false.
	// +optional
	CompleteWorkers bool `json:"completeWorkers,omitempty"`

	// MungeSecret is a field of flux-operator that isn't supported, and is refused.
	// +optional
	MungeSecret string `json:"mungeSecret,omitempty"`

	// Bursting is a field of flux-operator that isn't supported, and is refused.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Bursting *runtime.RawExtension `json:"bursting,omitempty"`

	// Arch is a field of flux-operator that isn't supported, and is refused.
	// +optional
	Arch string `json:"arch,omitempty"`

	// DisableSocket is a field of flux-operator that isn't supported, and is refused.
	// +optional
	DisableSocket bool `json:"disableSocket,omitempty"`

	// NoWaitSocket starts a sidecar whose command contains fluxsocket at once, without waiting for the broker's socket.
	// Default: false.
	// +optional
	NoWaitSocket bool `json:"noWaitSocket,omitempty"`
}

// MiniClusterScheduler configures Flux's scheduler.
//
// +kubebuilder:validation:XValidation:rule="!has(self.simple) || !self.simple",message="flux.scheduler.simple is not supported: which scheduler is there depends on the Flux image"
type MiniClusterScheduler struct {
	// QueuePolicy is the order in which Fluxion starts jobs: fcfs, easy, hybrid or conservative. It has no effect on
	// another scheduler of Flux; the leader's log then says so, and so does the condition Succeeded or Failed at the
	// end. Default: Fluxion's own, fcfs.
	// +optional
	// +kubebuilder:validation:Enum="";fcfs;easy;hybrid;conservative
	QueuePolicy string `json:"queuePolicy,omitempty"`

	// Simple is a field of flux-operator that isn't supported, and is refused.
	// +optional
	Simple bool `json:"simple,omitempty"`
}

// MiniClusterFluxContainer is the source of Flux: an init container whose image has it, and copies it to a volume that
// the runFlux container mounts; or, with disable, the runFlux container's own image.
type MiniClusterFluxContainer struct {
	// Disable creates no init container: flux is on the PATH of the runFlux container's image. Other fields of the init
	// container are ignored, with a warning. Default: false.
	// +optional
	Disable bool `json:"disable,omitempty"`

	// Image is the init container's image. It must have Flux as a view in /opt/view and the view's files in
	// /opt/software, as the flux-view images of flux-operator do. Default:
	// ghcr.io/converged-computing/flux-view-rocky:tag-9.
	// +optional
	Image string `json:"image,omitempty"`

	// Name is the init container's name. Default: flux-view.
	// +optional
	Name string `json:"name,omitempty"`

	// MountPath is the mount path of the volume with Flux and the brokers' configuration. Default: /mnt/flux.
	// +optional
	// +kubebuilder:validation:Pattern=`^(/[-_.a-zA-Z0-9/]*[-_a-zA-Z0-9])?$`
	MountPath string `json:"mountPath,omitempty"`

	// WorkingDir is the init container's working directory. Default: the image's.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`

	// PythonPath is added to PYTHONPATH where Flux runs. Default: the view's own site-packages.
	// +optional
	PythonPath string `json:"pythonPath,omitempty"`

	// Resources are the init container's requests and limits.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// ImagePullSecret is the name of a Secret of the namespace to pull the image with. Default: none.
	// +optional
	ImagePullSecret string `json:"imagePullSecret,omitempty"`

	// PullAlways pulls the image even if the node has it. Default: false.
	// +optional
	PullAlways bool `json:"pullAlways,omitempty"`

	// SecurityContext is the init container's.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}
