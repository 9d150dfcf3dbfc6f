package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
)

func TestDiffOfWhatIsAdoptedAndRecreated(t *testing.T) {
	orphan := settings(map[string]string{"colour": "red"})
	orphan.Namespace = "default"
	c, ctx := newCluster(orphan), t.Context()
	_, err := c.engine.For(c.owner).Deployment(web("nginx")).Reconcile(ctx)
	require.NoError(t, err)

	changed := web("nginx")
	changed.Spec.Selector.MatchLabels = map[string]string{"app": "other"}
	changed.Spec.Template.Labels = changed.Spec.Selector.MatchLabels
	diff, err := c.engine.For(c.owner).
		ConfigMap(settings(map[string]string{"colour": "blue"}), builder.Adopt(builder.AdoptOptions{})).
		Deployment(changed, builder.RecreateImmutable(metav1.DeletePropagationOrphan)).
		Diff(ctx)
	require.NoError(t, err)
	text := diff.String()
	assert.Contains(t, text, "~ ConfigMap default/settings\n")
	assert.Contains(t, text, "-     data.colour: \"red\"\n+     data.colour: \"blue\"\n")
	assert.Contains(t, text, "-/+ Deployment.apps default/web\n")
	assert.Contains(t, text, "+     spec.selector.matchLabels.app: \"other\"\n")
	assert.NotContains(t, text, "metadata.uid")
	assert.NotContains(t, text, "resourceVersion")
	assert.Contains(t, text, "? Deployment.apps default/web waits\n")
}
