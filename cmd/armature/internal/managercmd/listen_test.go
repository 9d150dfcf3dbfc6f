package managercmd

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestListeningNamesTheFlag: whoever can't listen is told which flag to change.
func TestListeningNamesTheFlag(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	at := taken.Addr().String()
	_, port, err := net.SplitHostPort(at)
	require.NoError(t, err)
	n, err := net.LookupPort("tcp", port)
	require.NoError(t, err)
	listen := func(address string) error {
		_, err := net.Listen("tcp", address)
		require.Error(t, err)
		return fmt.Errorf("failed to start: %w", err)
	}
	for name, tt := range map[string]struct {
		o       options
		address string
		want    string
	}{
		"metrics":      {options{metricsAddress: at, healthAddress: ":1", pprofAddress: "0"}, at, "--metrics-bind-address=" + at + ": failed to start: listen tcp " + at + ": bind: address already in use"},
		"health":       {options{metricsAddress: "0", healthAddress: at, pprofAddress: "0"}, at, "--health-probe-bind-address=" + at + ": failed to start: "},
		"pprof":        {options{metricsAddress: "0", healthAddress: "0", pprofAddress: at}, at, "--pprof-bind-address=" + at + ": failed to start: "},
		"webhook":      {options{metricsAddress: "0", healthAddress: "0", pprofAddress: "0", webhook: true, webhookPort: n}, at, "--webhook-port=" + port + ": failed to start: "},
		"both":         {options{metricsAddress: at, healthAddress: at}, at, "--metrics-bind-address=" + at + ", --health-probe-bind-address=" + at + ": "},
		"no such port": {options{metricsAddress: ":99999", healthAddress: ":1"}, ":99999", "--metrics-bind-address=:99999: failed to start: listen tcp: address 99999: invalid port"},
		"no address":   {options{metricsAddress: ":1", healthAddress: "8081"}, "8081", "--health-probe-bind-address=8081: failed to start: listen tcp: address 8081: missing port in address"},
		"someone else": {options{metricsAddress: ":1"}, at, "failed to start: listen tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.o.listening(listen(tt.address))
			assert.Equal(t, tt.want, got.Error()[:min(len(tt.want), len(got.Error()))], got)
		})
	}
	other := errors.New("x")
	assert.Equal(t, other, options{}.listening(other))
	assert.NoError(t, options{}.listening(nil))
}
