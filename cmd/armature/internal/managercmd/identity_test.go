package managercmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// The managers of an installation are one to the queues, and no two installations are.
func TestQueueManager(t *testing.T) {
	name := func(change func(*options)) string {
		o := options{kube: genericclioptions.NewConfigFlags(true), leaderElect: true, leaderElectNamespace: "ops", leaderElectName: leaseName}
		change(&o)
		m, err := o.queueManager()
		require.NoError(t, err)
		return m.Name
	}
	assert.Equal(t, "ops/armature-manager", name(func(*options) {}))
	assert.Equal(t, "ops/team-a", name(func(o *options) { o.leaderElectName = "team-a" }))
	assert.Equal(t, "ops/armature-manager", name(func(o *options) { o.watchNamespaces = []string{"a"} }), "the lease tells who it is")

	unelected := func(namespaces []string, selector string) string {
		return name(func(o *options) { o.leaderElect, o.watchNamespaces, o.selector = false, namespaces, selector })
	}
	assert.Equal(t, "ops/armature-manager", unelected(nil, ""))
	assert.Equal(t, unelected([]string{"a", "b"}, ""), unelected([]string{"b", "a"}, ""))
	assert.NotEqual(t, unelected([]string{"a"}, ""), unelected([]string{"b"}, ""))
	assert.NotEqual(t, unelected(nil, "x=a"), unelected(nil, "x=b"))
	assert.NotEqual(t, unelected(nil, ""), unelected(nil, "x=b"))
}
