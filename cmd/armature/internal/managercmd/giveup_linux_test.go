package managercmd

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
)

// That the kernel keeps to it is seen end to end, where a leader's network is cut off.
func TestConnectionsGiveUpWhenTheLeaseHasRunOut(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for _, tc := range []struct {
		lease lease
		want  int
	}{
		{lease{duration: 15 * time.Second, renewDeadline: 10 * time.Second}, 5000},
		{lease{duration: 2 * time.Second, renewDeadline: 1900 * time.Millisecond}, 1000},
	} {
		cfg := &rest.Config{}
		newFence(&fakeLock{}, tc.lease).around(cfg)
		conn, err := cfg.Dial(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
		require.NoError(t, err)
		raw, err := conn.(fencedConn).Conn.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			got, err := unix.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		}))
		require.NoError(t, conn.Close())
	}
}
