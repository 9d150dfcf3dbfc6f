package replicajob

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Variables that the containers of a ReplicaJob have.
const (
	// EnvJobName is the variable for the job's name.
	EnvJobName = "JOB_NAME"
	// EnvReplicaType is the variable for the replica's type, in the spelling of the spec.
	EnvReplicaType = "REPLICA_TYPE"
	// EnvReplicaIndex is the variable for the replica's index within its type.
	EnvReplicaIndex = "REPLICA_INDEX"
	// EnvReplicas is the variable for how many replicas its type has.
	EnvReplicas = "REPLICAS"
	// EnvRank is the variable for the replica's rank in the whole job.
	EnvRank = "RANK"
	// EnvWorldSize is the variable for how many replicas the whole job has.
	EnvWorldSize = "WORLD_SIZE"
	// EnvCoordinator is the variable for the host name of rank 0.
	EnvCoordinator = "COORDINATOR"
)

// clusterSpec is the cluster spec of a ReplicaJob: enough to work out the name of any replica, and of the same size in
// jobs of any size.
func clusterSpec(j *v1alpha1.ReplicaJob, world *World, me Replica, pod *corev1.PodTemplateSpec) {
	coordinator, _ := world.Coordinator() // there is one: me, if no one else
	SetEnv(pod,
		Env(EnvJobName, j.Name),
		Env(EnvReplicaType, string(me.Type)),
		Env(EnvReplicaIndex, strconv.Itoa(me.Index)),
		Env(EnvReplicas, strconv.Itoa(world.Replicas(me.Type))),
		Env(EnvRank, strconv.Itoa(me.Rank)),
		Env(EnvWorldSize, strconv.Itoa(world.Size())),
		Env(EnvCoordinator, world.Host(coordinator.Type, coordinator.Index)),
	)
}
