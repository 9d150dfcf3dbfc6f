package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/builder/record/recordtest"
)

// Each pass of a cluster that restarts replays from its record, although its certificate is random.
func TestPassesReplay(t *testing.T) {
	scheme := testScheme(t)
	recorder := record.NewRecorder(1 << 20)
	random := Planner{NewCertificate: NewCertificate}
	demo := makeCluster(2, backoffLimit(1), func(c *v1alpha1.MiniCluster) { c.UID = "" })
	buildertest.Settle(t, buildertest.Scenario{
		Scheme:   scheme,
		Options:  []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.MiniCluster{})},
		Objects:  []client.Object{demo, aNode},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(demo)}},
		Cluster:  cluster(-1, 0),
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(Operator(nil, random), recordtest.Client{Client: c, Recorder: recorder}, c.Now)
		},
	})
	assert.Greater(t, recordtest.Replay(t, recorder, Operator(nil, random), scheme), 2)
}
