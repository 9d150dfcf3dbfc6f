package pods

import (
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/volumes"
)

// Host is what a node lends to its pods.
type Host struct {
	// NodeName and IP are the node's name and address.
	NodeName, IP string
	// Dir is where pods keep their files, each in a directory named by its UID.
	Dir string
	// APIServer and CAFile are how containers reach the API server.
	APIServer *url.URL
	CAFile    string
	// Hosts returns the file that is /etc/hosts for the containers of a namespace.
	Hosts func(namespace string) (string, error)
	// Allocatable stands for limits that containers do not set.
	Allocatable corev1.ResourceList

	Client  kubernetes.Interface
	Objects podenv.Objects
	Tokens  volumes.Tokens
	Events  record.EventRecorder
	Clock   clock.WithTicker
	// Starts bounds how many containers start at the same moment: a container
	// holds one element of the channel's capacity while it starts.
	Starts chan struct{}
}

// Reasons of container states and events, as the kubelet names them.
const (
	reasonContainerCreating = "ContainerCreating"
	reasonPodInitializing   = "PodInitializing"
	reasonConfigError       = "CreateContainerConfigError"
	reasonCreateError       = "CreateContainerError"
	reasonCrashLoop         = "CrashLoopBackOff"
	reasonCompleted         = "Completed"
	reasonError             = "Error"
	reasonCannotRun         = "ContainerCannotRun"
	reasonUnknown           = "ContainerStatusUnknown"
	reasonDeadline          = "DeadlineExceeded"

	eventStarted         = "Started"
	eventKilling         = "Killing"
	eventBackOff         = "BackOff"
	eventFailed          = "Failed"
	eventFailedMount     = "FailedMount"
	eventUnhealthy       = "Unhealthy"
	eventPostStartFailed = "FailedPostStartHook"
	eventPreStopFailed   = "FailedPreStopHook"
)
