package dsoi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	parseableapp "github.com/armature-dev/armature/examples/parseable"
	parseable "github.com/armature-dev/armature/examples/parseable/api/v1beta1"
	pinotapp "github.com/armature-dev/armature/examples/pinot"
	pinot "github.com/armature-dev/armature/examples/pinot/api/v1beta1"
)

// manifest returns an example's, with a storage class that there is.
func (w *world) manifest(path string) string {
	text, err := os.ReadFile(filepath.Join("../../../examples", path))
	require.NoError(w, err)
	return strings.ReplaceAll(string(text), "storageClassName: standard", "storageClassName: "+w.class(false))
}

// TestManifests applies the manifests of the operators that dsoi-spec names, and lets them become ready.
func TestManifests(t *testing.T) {
	t.Parallel()
	t.Run("pinot", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(mgr manager.Manager) error { return pinotapp.App().Setup(mgr) })
		w.create(&pinot.Pinot{}, "", w.manifest("pinot/pinot.yaml"))
		p := becomesReady(w, &pinot.Pinot{}, "pinot")
		var names []string
		for _, n := range p.Status.NodeTypes {
			names = append(names, n.Name)
		}
		assert.Equal(t, []string{"controller", "broker", "server", "minion"}, names)
	})
	t.Run("parseable", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(mgr manager.Manager) error { return parseableapp.App().Setup(mgr) })
		w.create(&parseable.ParseableTenant{}, "", w.manifest("parseable/parseable.yaml"))
		p := becomesReady(w, &parseable.ParseableTenant{}, "parseable")
		assert.EqualValues(t, 3, p.Status.NodeTypes[0].Ready)
	})
}
