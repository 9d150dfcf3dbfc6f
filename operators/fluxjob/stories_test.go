package fluxjob

import (
	"flag"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	simulated "github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/minicluster"
)

var update = flag.Bool("update", false, "write the outputs of the stories anew")

func TestStories(t *testing.T) {
	story.Run(t, "testdata/stories", *update, config(ofJobs(admission.Manager{}), ofQueues(admission.Manager{}), ofClusters()))
}

// config is for stories on simulated nodes. Their MiniClusters run without Flux: the leader's pod runs the command itself.
func config(operators ...simulated.Operator) story.Config {
	return story.Config{
		Scheme: newScheme(), Options: []buildertest.Option{crds}, Operators: operators,
		Templates: map[string]string{
			"queue": "{apiVersion: api.practice.com/v1alpha1, kind: FluxSetup, metadata: {name: q}, spec: {quota: {miniClusters: 1}}}",
			"job":   "{apiVersion: api.practice.com/v1alpha1, kind: FluxJob, spec: {image: 'busybox:1.28', command: 'true', size: 1, queue: q}}",
		},
	}
}

// ofJobs is the operator of FluxJobs.
func ofJobs(m admission.Manager) simulated.Operator {
	return simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.FluxJob] { return Operator(mgr, m) })
}

// ofQueues is the operator of FluxSetups.
func ofQueues(m admission.Manager) simulated.Operator {
	return simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.FluxSetup] { return admission.Operator(mgr, m) })
}

// ofClusters is the operator of MiniClusters.
func ofClusters() simulated.Operator {
	return simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.MiniCluster] {
		return minicluster.Operator(mgr, minicluster.Planner{NewCertificate: func(string) []byte { return []byte("certificate") }})
	})
}
