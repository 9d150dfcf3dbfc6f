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

// The stories have the operators of FluxJobs, of queues and of MiniClusters, on simulated nodes. Their MiniClusters run without Flux: the
// leader's pod runs the command itself.
func TestStories(t *testing.T) {
	story.Run(t, "testdata/stories", *update, story.Config{
		Scheme: newScheme(), Options: []buildertest.Option{crds},
		Operators: []simulated.Operator{
			simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.FluxJob] {
				return Operator(mgr, admission.Manager{})
			}),
			simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.FluxSetup] {
				return admission.Operator(mgr, admission.Manager{})
			}),
			simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.MiniCluster] {
				return minicluster.Operator(mgr, minicluster.Planner{NewCertificate: func(string) []byte { return []byte("certificate") }})
			}),
		},
		Templates: map[string]string{
			"queue": "{apiVersion: api.practice.com/v1alpha1, kind: FluxSetup, metadata: {name: q}, spec: {quota: {miniClusters: 1}}}",
			"job":   "{apiVersion: api.practice.com/v1alpha1, kind: FluxJob, spec: {image: 'busybox:1.28', command: 'true', size: 1, queue: q}}",
		},
	})
}
