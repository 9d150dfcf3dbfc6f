// Package manual runs what the manual shows: the tutorial's operator, and the commands of its sessions.
package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Run(m, testcluster.WithNodes("node-1"))) }

// TestTutorial: docs/tutorial.md from its kind to its last command.
func TestTutorial(t *testing.T) {
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "tutorial"), "./examples/tutorial")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	shell := shellFor(t, bin)
	t.Cleanup(func() { shell.run(t, step{command: "kubectl delete backup/nightly"}, true) })
	play(t, shell, "docs/tutorial.md", func() { shell.start(t, filepath.Join(bin, "tutorial")) }) // once its kind is there
}

// TestConvert: docs/convert.md.
func TestConvert(t *testing.T) {
	play(t, shellFor(t, t.TempDir()), "docs/convert.md", func() {})
}
