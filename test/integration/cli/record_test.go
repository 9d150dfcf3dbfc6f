package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

// The passes over a flow are fetched from a manager that records them, replay without a cluster, and show a plan that differs.
func TestRecordAndReplay(t *testing.T) {
	p := connect(t)
	manager := binary.Start(t, "manager", "--kubeconfig", testcluster.Kubeconfig(t), "--watch-namespaces", p.Namespace, "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--record-bytes=1000000", "--record-bind-address=127.0.0.1:0")
	address := manager.Address(t, "recorded passes")

	p.create(flowOf("nightly", node("a", "true"), node("b", "sleep 600", "a")))
	p.waitState("nightly", v1alpha1.StateRunning)
	file := filepath.Join(t.TempDir(), "nightly.json")
	_, errs, code := p.armature("record", "jf/nightly", "--address", address, "-o", file)
	require.Zero(t, code, errs)
	assert.Contains(t, errs, " in "+file)

	replay := func(args ...string) (string, int) {
		out, errs, code := binary.Run(t, append([]string{"replay", file}, args...)...)
		require.Empty(t, errs)
		return out, code
	}
	out, code := replay()
	assert.Zero(t, code, out)
	assert.Contains(t, out, "JobFlow.api.practice.com "+p.Namespace+"/nightly: same plan\n")
	assert.NotContains(t, out, "differs")
	out, code = replay("--step", "--pass", "1")
	assert.Zero(t, code)
	assert.Contains(t, out, "    child Job.batch "+p.Namespace+"/nightly-a\n")

	text, err := os.ReadFile(file) //nolint:gosec // written above
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), `"image": "busybox:1.28"`, `"image": "busybox:1.27"`, 1)), 0o600))
	out, code = replay("--pass", "1")
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "image")

	errs = p.fails("record", "jf/other", "--address", address)
	assert.Contains(t, errs, "the manager has no recorded pass over JobFlow.api.practice.com "+p.Namespace+"/other")
	errs = p.fails("record", "jf/nightly", "--address", "127.0.0.1:1")
	assert.Contains(t, errs, "does the manager run with --record-bytes?")
}
