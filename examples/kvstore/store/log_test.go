package store

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A crash in the middle of an entry loses that entry, and no other.
func TestCutOffEntry(t *testing.T) {
	dir := t.TempDir()
	s := newTestStorage(t, dir)
	require.NoError(t, s.put("a", value{1, "one"}))
	file, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"key":"a","version":9,"data":"` + strings.Repeat("x", 100))
	require.NoError(t, err)

	for _, key := range []string{"b", "c"} { // each shorter than the rest of the cut-off entry
		s = newTestStorage(t, dir)
		require.NoError(t, s.put(key, value{1, key}))
	}
	assert.Equal(t, map[string]value{"a": {1, "one"}, "b": {1, "b"}, "c": {1, "c"}}, newTestStorage(t, dir).all())
}

// An entry can be longer than a value on the wire: JSON escapes some characters.
func TestLongEntry(t *testing.T) {
	dir := t.TempDir()
	s := newTestStorage(t, dir)
	long := strings.Repeat("\x01", 1<<20)
	require.NoError(t, s.put("a", value{1, long}))
	require.NoError(t, s.put("b", value{1, "b"}))
	all := newTestStorage(t, dir).all()
	assert.Len(t, all["a"].Data, len(long))
	assert.Equal(t, value{1, "b"}, all["b"])
}

// A node doesn't start without entries that it had: it says which line of which file it can't read.
func TestDamagedEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(`{"key":"a","version":1,"data":"one"}`+"\nx\n"), 0o644))
	_, err := newStorage(&node{mux: http.NewServeMux()}, filepath.Dir(path))
	assert.ErrorContains(t, err, path+": line 2: ")
}

// A value that couldn't be written isn't there, so that another attempt writes it.
func TestFailedWrite(t *testing.T) {
	s := newTestStorage(t, t.TempDir())
	file := s.log.file
	readOnly, err := os.Open(file.Name())
	require.NoError(t, err)
	s.log.file = readOnly
	require.Error(t, s.put("a", value{1, "one"}))
	assert.Empty(t, s.all())
	s.log.file = file
	require.NoError(t, s.put("a", value{1, "one"}))
	assert.Len(t, newTestStorage(t, filepath.Dir(file.Name())).all(), 1)
}
