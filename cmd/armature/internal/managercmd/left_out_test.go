package managercmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// A manager says what it leaves out to those who look for it, and decides nothing about reservations there, but it is the same manager.
func TestIdentityWithoutWhatIsLeftOut(t *testing.T) {
	o := options{
		kube: genericclioptions.NewConfigFlags(true), leaderElectNamespace: "ops", leaderElectName: leaseName,
		operators: []string{"*"}, watchNamespaces: []string{"b", "a"},
	}
	all, err := o.queueManager()
	require.NoError(t, err)
	o.leftOut = []string{"b"}
	some, err := o.queueManager()
	require.NoError(t, err)
	assert.Equal(t, all.Name, some.Name)
	assert.Equal(t, []string{"a"}, some.Namespaces)
	scope, err := o.scope()
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, scope.Namespaces)
	assert.Equal(t, []string{"b", "a"}, o.watchNamespaces)
}
