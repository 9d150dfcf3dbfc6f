package program

import (
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// aManager is a manager that is never started.
type aManager struct {
	manager.Manager
	added []manager.Runnable
}

func (m *aManager) GetLogger() logr.Logger { return logr.Discard() }

func (m *aManager) Add(r manager.Runnable) error {
	m.added = append(m.added, r)
	return nil
}

// Each feature is off unless its flag is given, and wrong flags are named.
func TestFeatures(t *testing.T) {
	around := func(mgr manager.Manager, namespace string, args ...string) (manager.Manager, func(), error) {
		var f features
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		f.addTo(flags)
		require.NoError(t, flags.Parse(args))
		return f.around(mgr, "backup", namespace)
	}
	mgr := &aManager{}
	with, ended, err := around(mgr, "")
	require.NoError(t, err)
	ended()
	assert.Equal(t, manager.Manager(mgr), with, "all is off")
	assert.Empty(t, mgr.added)

	dir := filepath.Join(t.TempDir(), "state")
	with, ended, err = around(mgr, "system", "-undo", "-rollout-max-owners=10%", "-record-bytes=1000", "-record-bind-address=127.0.0.1:0",
		"-state-dir="+dir)
	require.NoError(t, err)
	assert.DirExists(t, dir)
	ended()
	require.Len(t, mgr.added, 1)
	server, ok := mgr.added[0].(*manager.Server)
	require.True(t, ok)
	require.NoError(t, server.Listener.Close())
	depth := 0
	for inner, ok := with.(interface{ Unwrap() manager.Manager }); ok; inner, ok = with.(interface{ Unwrap() manager.Manager }) {
		with = inner.Unwrap()
		depth++
	}
	assert.Equal(t, 4, depth)
	assert.Equal(t, manager.Manager(mgr), with)

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for message, args := range map[string][]string{
		`--state-dir: `: {"-state-dir=" + file},
		`--record-bytes must not be negative, got -1`:               {"-record-bytes=-1"},
		`--rollout-max-owners: the maximum number of owners is "x"`: {"-rollout-max-owners=x"},
		`set --leader-elect-namespace`:                              {"-rollout-max-owners=1"},
	} {
		_, _, err := around(mgr, "", args...)
		require.ErrorContains(t, err, message)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, _, err = around(mgr, "", "-record-bytes=1000", "-record-bind-address="+taken.Addr().String())
	require.ErrorContains(t, err, "serve the recorded passes")
}

// The format of a preview is checked before anything is read.
func TestFormatOfPreview(t *testing.T) {
	err := Options{Name: "backup"}.preview(t.Context(), nil, []string{"-o", "yaml"}, nil)
	require.EqualError(t, err, `-o is "yaml"; accepted are text, json and markdown`)
	assert.Equal(t, 3, exitCode(errors.Join(ErrDisruptive)))
	assert.Equal(t, 2, exitCode(ErrChanges))
	assert.Equal(t, 1, exitCode(err))
	assert.Equal(t, 0, exitCode(nil))
	assert.Equal(t, 0, exitCode(flag.ErrHelp))
}
