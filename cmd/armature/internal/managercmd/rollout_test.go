package managercmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A restart with another level of the log is the same build: an abort of its roll-out holds.
func TestFlagsThatBelongToTheBuild(t *testing.T) {
	of := func(args ...string) []string {
		f := New().Flags()
		require.NoError(t, f.Parse(args))
		return planFlags(f)
	}
	same := of()
	for _, flag := range []string{
		"--log-level=debug", "--log-format=json", "--kube-api-qps=20", "--kube-api-burst=30", "--metrics-bind-address=0",
		"--pprof-bind-address=127.0.0.1:6060", "--record-bytes=1", "--max-concurrent-reconciles=1", "--leader-elect-lease-duration=1m",
		"--state-dir=/tmp", "--rollout-max-owners=5", "--health-probe-bind-address=0", "--webhook", "--operators=*",
	} {
		assert.Equal(t, same, of(flag), flag)
	}
	for _, flag := range []string{
		"--operators=jobflow", "--watch-namespaces=a", "--selector=x=y", "--undo=false", "--leader-elect=false", "--leader-elect-name=m",
	} {
		assert.NotEqual(t, same, of(flag), flag)
	}
}
