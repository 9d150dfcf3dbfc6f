package minicluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	simulated "github.com/armature-dev/armature/builder/buildertest/world"
)

func TestStories(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	story.Run(t, "testdata/stories", *update, story.Config{
		Scheme:  scheme,
		Options: []buildertest.Option{buildertest.WithCRDs("../../config/crd/api.practice.com_miniclusters.yaml")},
		Operators: []simulated.Operator{simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.MiniCluster] {
			return Operator(mgr, planner)
		})},
		Templates: map[string]string{"minicluster": `
apiVersion: api.practice.com/v1alpha1
kind: MiniCluster
metadata: {name: demo}
spec: {size: 2, containers: [{image: lammps, command: lmp}]}
`},
	})
}
