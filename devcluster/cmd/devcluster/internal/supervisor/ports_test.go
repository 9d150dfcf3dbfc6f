package supervisor

import (
	"fmt"
	"maps"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
)

func TestPortsAreKeptUnlessTaken(t *testing.T) {
	ports := map[string]int{}
	require.NoError(t, pickPorts(ports))
	assert.Len(t, ports, 4)
	kept := map[string]int{}
	maps.Copy(kept, ports)
	require.NoError(t, pickPorts(kept))
	assert.Equal(t, ports, kept)

	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports[component.Etcd]))
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, pickPorts(kept))
	assert.NotEqual(t, ports[component.Etcd], kept[component.Etcd])
	assert.Equal(t, ports[component.APIServer], kept[component.APIServer])
}

func TestTwoComponentsNeverShareAPort(t *testing.T) {
	ports := map[string]int{}
	require.NoError(t, pickPorts(ports))
	ports[component.Scheduler] = ports[component.Etcd]
	require.NoError(t, pickPorts(ports))
	assert.NotEqual(t, ports[component.Scheduler], ports[component.Etcd])
}
