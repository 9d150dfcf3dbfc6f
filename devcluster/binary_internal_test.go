package devcluster

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program writes a module whose program prints a word, in place of devcluster, which takes minutes to build.
func program(t *testing.T, dir, word string) source {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module program\n\ngo 1.24\n"), 0o644))
	code := "package main\n\nfunc main() { print(\"" + word + "\") }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o644))
	state, err := stateOf(dir)
	require.NoError(t, err)
	return source{dir: dir, key: "key", state: state}
}

func TestProgramIsBuiltOnceByManyAtATime(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	src := program(t, dir, "one")
	var all sync.WaitGroup
	binaries := make([]string, 4)
	for i := range binaries {
		all.Add(1)
		go func() {
			defer all.Done()
			var err error
			binaries[i], err = cached(t.Context(), cache, src)
			assert.NoError(t, err)
		}()
	}
	all.Wait()
	for _, binary := range binaries {
		assert.Equal(t, filepath.Join(cache, "devcluster"), binary)
	}
	built, err := os.Stat(binaries[0])
	require.NoError(t, err)

	// Without the source, only a binary that is kept can be found.
	require.NoError(t, os.Remove(filepath.Join(dir, "main.go")))
	_, err = cached(t.Context(), cache, src)
	require.NoError(t, err)
	again, err := os.Stat(binaries[0])
	require.NoError(t, err)
	assert.Equal(t, built.ModTime(), again.ModTime())

	changed := program(t, dir, "another")
	_, err = cached(t.Context(), cache, changed)
	require.NoError(t, err)
	again, err = os.Stat(binaries[0])
	require.NoError(t, err)
	assert.NotEqual(t, built.ModTime(), again.ModTime(), "built from what the directory has now")
}

func TestProgramThatDoesNotCompileIsAnError(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	src := program(t, dir, "\nno Go\n")
	_, err := cached(t.Context(), cache, src)
	require.ErrorContains(t, err, "main.go", "the Go command says where")
	assert.NoFileExists(t, filepath.Join(cache, "devcluster"))
}

func TestSourceIsBesideThisPackage(t *testing.T) {
	src, err := findSource(t.Context())
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(here, "cmd", "devcluster"), src.dir)
	assert.Empty(t, src.version)
	assert.True(t, strings.HasPrefix(src.key, "dir-"))
}

func TestEnvironmentNamesTheProgram(t *testing.T) {
	t.Setenv(binaryEnv, filepath.Join(t.TempDir(), "missing"))
	_, err := Binary(t.Context())
	require.ErrorContains(t, err, binaryEnv)
}
