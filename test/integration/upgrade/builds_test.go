//go:build e2e

package upgrade

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// edit is a change of a source file: a text that the file has once, and what replaces it.
type edit struct{ file, from, to string }

// previous builds the armature of the commit before this one. Without it, as in a shallow clone, it returns that of this one.
func previous(t *testing.T) (path string) {
	t.Helper()
	root, dir := binary.Root(t), t.TempDir()
	git := func(args ...string) error {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		return cmd.Run()
	}
	if git("rev-parse", "--verify", "--quiet", "HEAD^1") != nil {
		t.Log("this clone has one commit: the upgrade is from this one")
		return binary.Path(t)
	}
	archive := filepath.Join(dir, "source.tar")
	require.NoError(t, git("archive", "--output", archive, "HEAD^1"))
	for _, args := range [][]string{{"tar", "-xf", archive}, {"go", "build", "-ldflags=-s", "-o", "armature", "./cmd/armature"}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", args, out)
	}
	return filepath.Join(dir, "armature")
}

// build builds a program of the repository with changes of its source, which stays as it is.
func build(t *testing.T, program string, edits ...edit) (path string) {
	t.Helper()
	root, dir := binary.Root(t), t.TempDir()
	replaced := map[string]string{}
	for i, e := range edits {
		file := filepath.Join(root, e.file)
		if replaced[file] == "" {
			replaced[file] = filepath.Join(dir, string(rune('a'+i))+".go")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(replaced[file], text, 0o600))
		}
		text, err := os.ReadFile(replaced[file])
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(text), e.from), "%s has %q", e.file, e.from)
		require.NoError(t, os.WriteFile(replaced[file], []byte(strings.Replace(string(text), e.from, e.to, 1)), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	path = filepath.Join(dir, filepath.Base(program))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s", "-overlay", filepath.Join(dir, "overlay.json"), "-o", path, program)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}
