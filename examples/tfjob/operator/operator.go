// Package operator is the whole of the TFJob operator: what is special about it.
package operator

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	v1 "github.com/armature-dev/armature/examples/tfjob/api/v1"
	"github.com/armature-dev/armature/operators/replicajob"
)

// TFJobs is the kind.
var TFJobs = replicajob.Kind[*v1.TFJob]{
	Name: "tfjob",
	Spec: func(j *v1.TFJob) v1alpha1.ReplicaJobSpec {
		return v1alpha1.ReplicaJobSpec{ReplicaSpecs: j.Spec.TFReplicaSpecs, RunPolicy: j.Spec.RunPolicy, SuccessPolicy: j.Spec.SuccessPolicy}
	},
	Status:      func(j *v1.TFJob) *v1alpha1.ReplicaJobStatus { return &j.Status },
	ClusterSpec: clusterSpec,
	Leaders:     []v1alpha1.ReplicaType{v1alpha1.ReplicaChief}, // without one, Worker 0
	Container:   "tensorflow",
	PortName:    "tensorflow",
	Port:        2222,
}

// Setup lets a manager run TFJobs.
var Setup = TFJobs.Setup

// Config is TF_CONFIG.
type Config struct {
	Cluster map[string][]string `json:"cluster"`
	Task    struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	} `json:"task"`
}

// clusterSpec tells a replica who it is and who else trains: all but the evaluators.
func clusterSpec(_ *v1.TFJob, world *replicajob.World, me replicajob.Replica, pod *corev1.PodTemplateSpec) {
	config := Config{Cluster: map[string][]string{}}
	for _, t := range world.Types() {
		if t != v1.Evaluator && world.Has(t) {
			config.Cluster[strings.ToLower(string(t))] = world.Addresses(t)
		}
	}
	config.Task.Type, config.Task.Index = strings.ToLower(string(me.Type)), me.Index
	text, _ := json.Marshal(config) // strings and numbers can't fail
	replicajob.SetEnv(pod, replicajob.Env("TF_CONFIG", string(text)))
}
