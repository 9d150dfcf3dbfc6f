// Package manual runs what the manual shows: the tutorial's operator, and the commands of its sessions.
package manual

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "4") // tests wait more than they compute; the command line has the last word
	os.Exit(testcluster.Run(m, testcluster.WithNodes("node-1", "node-2", "node-3")))
}

// TestTutorial: docs/tutorial.md from its kind to its last command.
func TestTutorial(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s", "-o", filepath.Join(bin, "tutorial"), "./examples/tutorial")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	shell := shellFor(t, bin, "default")
	t.Cleanup(func() { shell.run(t, step{command: "kubectl delete backup/nightly"}, true) })
	play(t, shell, "docs/tutorial.md", func() { shell.start(t, filepath.Join(bin, "tutorial")) }) // once its kind is there
}

// TestPages: the sessions of the pages about commands that need no cluster, and of those about kinds.
func TestPages(t *testing.T) {
	t.Parallel()
	// What a page leaves that isn't in its namespace. The pages run side by side.
	leaves := map[string]string{"docs/fluxjob.md": "kubectl delete fluxsetup two-at-a-time"}
	for _, page := range []string{"docs/convert.md", "docs/daemonjob.md", "docs/fluxjob.md", "docs/replicajob.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			testcluster.InstallCRDs(t, "config/crd")
			namespace := testcluster.Namespace(t)
			binary.StartManager(t, namespace)
			shell := shellFor(t, t.TempDir(), namespace)
			if tidy := leaves[page]; tidy != "" {
				t.Cleanup(func() { shell.run(t, step{command: tidy}, true) })
			}
			play(t, shell, page, nil)
		})
	}
}

// inDemo is the name of a cluster whose directory is called demo.
var inDemo = regexp.MustCompile(`\bdemo-[0-9a-f]{4}\b`)

// TestDevcluster: devcluster/README.md, in a directory that is called as there.
func TestDevcluster(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o700))
	patient := "#!/bin/sh\n[ $1 != up ] || set -- \"$@\" --timeout 8m\nexec " + devclusterBinary(t) + " \"$@\"\n" // on a busy machine
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "devcluster"), []byte(patient), 0o700))
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	shell := &shell{dir: dir, env: os.Environ(), tidy: func(text string) string {
		return inDemo.ReplaceAllString(strings.NewReplacer(dir, "/home/me/demo", real, "/home/me/demo").Replace(text), "demo-bcd1")
	}}
	t.Cleanup(func() { shell.run(t, step{command: "bin/devcluster delete"}, true) })
	play(t, shell, "devcluster/README.md", nil)
}
