//go:build unix

package manifest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In a directory only files are read: a named pipe that nobody writes to would be read for ever.
func TestReadPassesByWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("kind: A\n"), 0o600))
	require.NoError(t, os.Symlink("a.yaml", filepath.Join(dir, "b.yaml")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600))
	docs, err := Read([]string{dir}, true, nil)
	assert.Len(t, docs, 2)
	assert.ErrorContains(t, err, "pipe.yaml: it isn't a file, and isn't read")
}
