package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemoveRemovesReadOnlyDirectories(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root removes files of read-only directories")
	}
	parent := t.TempDir()
	kept := filepath.Join(parent, "kept")
	require.NoError(t, os.Mkdir(kept, 0o555))
	removed := filepath.Join(parent, "removed")
	inner := filepath.Join(removed, "module", "package")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(inner, "file.go"), nil, 0o444))
	require.NoError(t, os.Symlink(kept, filepath.Join(removed, "link")))
	for _, dir := range []string{inner, filepath.Dir(inner)} {
		require.NoError(t, os.Chmod(dir, 0o555))
	}
	require.Error(t, os.RemoveAll(removed))

	require.NoError(t, Remove(removed))
	assert.NoDirExists(t, removed)
	info, err := os.Stat(kept)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o555), info.Mode().Perm(), "the target of a symbolic link stays as it is")
	require.NoError(t, Remove(removed), "nothing to remove")
}
