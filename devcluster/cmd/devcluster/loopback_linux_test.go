package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every socket that a process of the cluster listens on is bound to 127.0.0.0/8.
func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	c := sharedCluster(t)
	r, err := c.status(t)
	require.NoError(t, err)
	listening := 0
	for _, pid := range append([]int{r.PID}, pids(r)...) {
		sockets := socketsOf(t, pid)
		for _, file := range []string{"tcp", "tcp6"} {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, file))
			require.NoError(t, err)
			for line := range strings.Lines(string(data)) {
				f := strings.Fields(line)
				const listen = "0A"
				if len(f) < 10 || f[3] != listen || !sockets[f[9]] {
					continue
				}
				listening++
				// Addresses are written in the machine's byte order: 127.x.y.z ends in 7F.
				address, _, _ := strings.Cut(f[1], ":")
				assert.True(t, len(address) == 8 && strings.HasSuffix(address, "7F"), "pid %d listens on %s", pid, f[1])
			}
		}
	}
	assert.GreaterOrEqual(t, listening, 4)
}

func pids(r report) []int {
	var pids []int
	for _, c := range r.Components {
		pids = append(pids, c.PID)
	}
	return pids
}

// socketsOf returns the inodes of the sockets that a process has open.
func socketsOf(t *testing.T, pid int) map[string]bool {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	inodes := map[string]bool{}
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if inode, found := strings.CutPrefix(target, "socket:["); err == nil && found {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return inodes
}
