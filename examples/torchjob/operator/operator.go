// Package operator is the whole of the TorchJob operator: what is special about it.
package operator

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	v1 "github.com/armature-dev/armature/examples/torchjob/api/v1"
	"github.com/armature-dev/armature/operators/replicajob"
)

// TorchJobs is the kind.
var TorchJobs = replicajob.Kind[*v1.TorchJob]{
	Name: "torchjob",
	Spec: func(j *v1.TorchJob) v1alpha1.ReplicaJobSpec {
		return v1alpha1.ReplicaJobSpec{ReplicaSpecs: j.Spec.TorchReplicaSpecs, RunPolicy: j.Spec.RunPolicy}
	},
	Status:      func(j *v1.TorchJob) *v1alpha1.ReplicaJobStatus { return &j.Status },
	ClusterSpec: clusterSpec,
	Leaders:     []v1alpha1.ReplicaType{v1alpha1.ReplicaMaster}, // without one, Worker 0
	Container:   "torch",
	PortName:    "torch",
	Port:        23456,
}

// Setup lets a manager run TorchJobs.
var Setup = TorchJobs.Setup

// clusterSpec tells a replica where rank 0 is, and who it is itself; in an elastic job also how many there may be, as
// torchrun reads it.
func clusterSpec(j *v1.TorchJob, world *replicajob.World, me replicajob.Replica, pod *corev1.PodTemplateSpec) {
	master, _ := world.Coordinator()
	host, port := world.Host(master.Type, master.Index), strconv.Itoa(int(world.Port(master.Type)))
	replicajob.SetEnv(pod,
		replicajob.Env("MASTER_ADDR", host),
		replicajob.Env("MASTER_PORT", port),
		replicajob.Env("WORLD_SIZE", strconv.Itoa(world.Size())),
		replicajob.Env("RANK", strconv.Itoa(me.Rank)),
	)
	if elastic := j.Spec.ElasticPolicy; elastic != nil {
		others := world.Size() - world.Replicas(v1alpha1.ReplicaWorker)
		replicajob.SetEnv(pod,
			replicajob.Env("PET_RDZV_BACKEND", "c10d"),
			replicajob.Env("PET_RDZV_ENDPOINT", host+":"+port),
			replicajob.Env("PET_NNODES", fmt.Sprintf("%d:%d", int(elastic.MinReplicas)+others, int(elastic.MaxReplicas)+others)),
		)
	}
}
