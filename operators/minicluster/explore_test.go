package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
)

// explored is a MiniCluster in which everything may happen in any order. Its leader ends as in crashes.
func explored(t *testing.T, c *v1alpha1.MiniCluster, codes ...int32) buildertest.Scenario {
	c.UID = ""
	return buildertest.Scenario{
		Scheme:   testScheme(t),
		Options:  []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.MiniCluster{})},
		Objects:  []client.Object{c, aNode},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(c)}},
		Cluster:  cluster(codes...),
		Normalize: func(obj *unstructured.Unstructured) bool {
			unstructured.RemoveNestedField(obj.Object, "status", "leader") // no pass may have observed it running
			return true
		},
		Reconciler: operator.Reconciler,
	}
}

func TestExploreAClusterThatSucceeds(t *testing.T) {
	s := explored(t, makeCluster(2), 0)
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Coarse: true, Walks: testsize.Pick(0, 50)})
	assert.True(t, report.Exhausted)
}

// The leader of the first start is killed, that of the second one fails.
func TestExploreAClusterThatRestarts(t *testing.T) {
	s := explored(t, makeCluster(1, backoffLimit(1)), exitKilled, 4)
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Coarse: true})
	assert.True(t, report.Exhausted)
}
