package minicluster

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

func TestStories(t *testing.T) {
	story.Run(t, "testdata/stories", *update, story.Config{
		Scheme:    testScheme(t),
		Options:   []buildertest.Option{buildertest.WithCRDs("../../config/crd/api.practice.com_miniclusters.yaml")},
		Operators: []world.Operator{operator},
		Templates: map[string]string{"minicluster": `
apiVersion: api.practice.com/v1alpha1
kind: MiniCluster
metadata: {name: demo}
spec: {size: 2, containers: [{image: lammps, command: lmp}]}
`},
		Commands: map[string]story.Command{"running": runningCluster},
	})
}

// runningCluster is the command running: a new cluster with one node, in which the MiniCluster demo runs. The YAML below has further fields
// of its spec.
func runningCluster(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	for _, line := range []story.Line{
		{Command: "cluster"},
		{Command: "node", Words: []string{"n1"}},
		{Command: "minicluster", Words: l.Words, Options: l.Options, Input: l.Input},
		{Command: "settle", Words: []string{"quiet"}},
	} {
		if text, err := s.Do(ctx, line); err != nil || text != "" {
			return text, err
		}
	}
	return "", nil
}

// operator is the operator without a manager, whose certificates are the same each time.
var operator = world.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.MiniCluster] { return Operator(mgr, planner) })

func testScheme(t *testing.T) *runtime.Scheme {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return scheme
}
