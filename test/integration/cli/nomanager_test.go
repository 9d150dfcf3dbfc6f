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
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// explains waits until explain ends with a code and says something.
func (p *place) explains(what string, code int, says string) {
	p.T.Helper()
	last := ""
	p.Eventually("explain "+what+" to say "+says, func() bool {
		out, _, got := p.armature("explain", what)
		last = out
		return got == code && strings.Contains(out, says)
	})
	p.T.Log(last)
}

// startWatch runs watch until the test ends.
func (p *place) startWatch(what string) *binary.Process {
	p.T.Helper()
	return binary.Start(p.T, "watch", what, "--kubeconfig", testcluster.Kubeconfig(p.T), "-n", p.Namespace)
}

// TestNoManager: explain and watch say it when no manager looks at what is under way, by its lease or without one.
func TestNoManager(t *testing.T) {
	p := connect(t)
	t.Parallel()
	p.create(flowOf("long", node("a", harness.Forever)))
	p.explains("jf/long", 1, "no manager has reconciled it: its status is empty")
	never := p.startWatch("jf/long")
	p.Eventually("watch says it", func() bool {
		return strings.Contains(never.Log.String(), "NoManager: no manager has reconciled it: its status is empty\n")
	})
	never.Stop()

	elected := binary.Start(t, "manager", "--kubeconfig", testcluster.Kubeconfig(t), "--watch-namespaces", p.Namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect-namespace", p.Namespace,
		"--leader-elect-lease-duration=2h", "--leader-elect-renew-deadline=1h") // it leads also after the machine was busy for long
	p.waitState("long", v1alpha1.StateRunning)
	p.explains("jf/long", 0, "it runs: 1 pod")
	watch := p.startWatch("jf/long")
	elected.Kill()
	p.ExpireLease(p.Namespace, "armature-manager")
	p.explains("jf/long", 1, "no manager runs: the lease "+p.Namespace+"/armature-manager was last renewed")
	p.Eventually("watch says it", func() bool {
		return strings.Contains(watch.Log.String(), "NoManager: no manager runs: the lease "+p.Namespace+"/armature-manager was last renewed")
	})
	assert.Equal(t, 1, strings.Count(watch.Log.String(), "NoManager"), "once")
	watch.Stop()

	unelected := binary.StartManager(t, p.Namespace)
	end := filepath.Join(t.TempDir(), "end")
	p.create(flowOf("short", node("a", harness.ScriptUntil(end)), node("b", "true", "a")))
	p.waitState("short", v1alpha1.StateRunning)
	unelected.Kill()
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	p.explains("jf/short", 1, "no manager works on it: Job/short-a ended")
}
