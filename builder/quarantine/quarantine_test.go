package quarantine_test

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/quarantine"
)

// silent is a manager that is asked for nothing but its logger.
type silent struct{ manager.Manager }

func (silent) GetLogger() logr.Logger { return logr.Discard() }

// Operators of the manager write into the quarantine's record, by which the next process knows what didn't end.
func TestAManagerAroundWhichThereIsAQuarantine(t *testing.T) {
	dir := t.TempDir()
	pass := inflight.Pass{Controller: "webapp", Namespace: "default", Name: "shop", UID: "1"}
	begin := func() *inflight.Hold {
		q, err := quarantine.Open(dir)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, q.Close()) })
		mgr, ok := q.Around(silent{}).(interface{ PassesInFlight() *inflight.Record })
		require.True(t, ok)
		_, hold := mgr.PassesInFlight().Begin(pass)
		return hold
	}
	assert.Nil(t, begin())
	hold := begin() // as if the first process had been killed
	require.NotNil(t, hold)
	assert.Equal(t, 1, hold.Ends)
}

func TestAQuarantineNeedsItsDirectory(t *testing.T) {
	_, err := quarantine.Open("/dev/null/state")
	assert.Error(t, err)
}

// logging is a manager with a log.
type logging struct {
	manager.Manager
	log *[]string
}

func (l logging) GetLogger() logr.Logger {
	return funcr.New(func(_, args string) { *l.log = append(*l.log, args) }, funcr.Options{})
}

// A record that can't be written is logged once, and delays no pass.
func TestARecordThatCannotBeWritten(t *testing.T) {
	q, err := quarantine.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, q.Close()) // from now on a write fails
	var log []string
	mgr := logging{log: &log}
	around := q.Around(mgr)
	assert.Equal(t, manager.Manager(mgr), around.(interface{ Unwrap() manager.Manager }).Unwrap())
	for _, name := range []string{"shop", "bank"} {
		pass := inflight.Pass{Controller: "webapp", Namespace: "default", Name: name}
		running, hold := around.(interface{ PassesInFlight() *inflight.Record }).PassesInFlight().Begin(pass)
		assert.Nil(t, hold)
		running.End()
	}
	require.Len(t, log, 1)
	assert.Contains(t, log[0], "the passes that run can't be kept on record")
	assert.Contains(t, log[0], "file already closed")
}
