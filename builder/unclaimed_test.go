package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/armature-dev/armature/builder"
)

// A default that was set beside what was wanted before is in the way of what is wanted now: it is taken out, wherever the
// process dies meanwhile.
func TestDefaultInTheWayIsTakenOut(t *testing.T) {
	for crash := range 5 {
		c, ctx := newCluster(), t.Context()
		engine := c.engine
		want := func(image string, strategy appsv1.DeploymentStrategyType) error {
			d := web(image)
			d.Spec.Strategy.Type = strategy
			_, err := engine.For(c.owner).Deployment(d).Reconcile(ctx)
			return err
		}
		require.NoError(t, want("a", ""))
		require.NoError(t, want("b", ""))
		found := web("")
		c.get(found)
		require.NotNil(t, found.Spec.Strategy.RollingUpdate)
		if crash > 0 {
			mortal := c.server.Client("example")
			mortal.CrashAfter(crash)
			engine = builder.NewEngine(mortal, builder.Options{Name: "example"})
			_ = want("c", appsv1.RecreateDeploymentStrategyType)
			engine = builder.NewEngine(c.server.Client("example"), builder.Options{Name: "example"})
		}
		require.NoError(t, want("c", appsv1.RecreateDeploymentStrategyType), "crash after write %d", crash)
		c.get(found)
		assert.Equal(t, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, found.Spec.Strategy)
		assert.Equal(t, "c", found.Spec.Template.Spec.Containers[0].Image)
		before := len(c.server.Ledger().Writes())
		require.NoError(t, want("c", appsv1.RecreateDeploymentStrategyType))
		assert.Len(t, c.server.Ledger().Writes(), before)
	}
}
