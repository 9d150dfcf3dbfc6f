package replicajob

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// Kind is what is special about one kind of replica jobs. T is a pointer to the kind's type, such as
// *v1alpha1.ReplicaJob. Name, Spec and Status are required; the rest has defaults.
type Kind[T builder.Conditioned] struct {
	// Name is the operator's name, unique in the cluster, lower case: the controller's name, the field owner of what it
	// makes, the reporter of its events, and a label on its pods.
	Name string
	// Spec returns what a job runs, in the engine's words: its replicas, and the policies that it has. It must not change
	// the job; the map it returns may be the job's own. The kind's success rule is the SuccessPolicy that is returned
	// (nil: the leader decides).
	Spec func(job T) v1alpha1.ReplicaJobSpec
	// Status returns the place of the status in a job. The engine calls it with copies only when it changes something.
	Status func(job T) *v1alpha1.ReplicaJobStatus
	// ClusterSpec describes the other replicas to one replica, mostly by environment variables ([SetEnv]). The pod is a copy
	// of the template, which ClusterSpec may change in any way. It is called once for each created pod. Default: nothing.
	ClusterSpec func(job T, world *World, me Replica, pod *corev1.PodTemplateSpec)
	// Leaders are the types that lead: the first of them that has replicas decides on success, and has the first ranks.
	// Case doesn't matter. Default: Chief, Master, Launcher.
	Leaders []v1alpha1.ReplicaType
	// Container is the name of the default container: its exit code decides, and its ports are those of a
	// replica's Service. Default, also for pods that have no such container: the first.
	Container string
	// PortName is the name of the port of that container that [World.Port] returns, and Port what it returns if there is
	// no such port. Default: none, 0.
	PortName string
	Port     int32
	// Schedulers are the gang schedulers whose APIs the cluster has. [Kind.Setup] finds out, and notices one that is
	// installed later; to be set in tests only.
	Schedulers []v1alpha1.GangProvider
}

// defaultLeaders lead if a kind doesn't say otherwise.
var defaultLeaders = []v1alpha1.ReplicaType{v1alpha1.ReplicaChief, v1alpha1.ReplicaMaster, v1alpha1.ReplicaLauncher}

// SetEnv adds variables to each container and init container of a pod, before the container's own, which can refer to them as $(NAME). One
// that a container sets itself stays as it is.
func SetEnv(pod *corev1.PodTemplateSpec, vars ...corev1.EnvVar) { podtemplate.Env(pod, vars) }

// Env returns a variable.
func Env(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

// sameType compares names of types as the engine does where they have a meaning.
func sameType(a, b v1alpha1.ReplicaType) bool { return strings.EqualFold(string(a), string(b)) }
