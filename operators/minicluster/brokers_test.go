package minicluster

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// TestRealBrokers starts a cluster's scripts on real brokers, where flux is installed. Its pods are processes on
// loopback, so the addresses in broker.toml are replaced: all else is as in a cluster. Only the leader is connected to,
// so one address does.
func TestRealBrokers(t *testing.T) {
	if _, err := exec.LookPath("flux"); err != nil {
		t.Skip("flux is not installed")
	}
	for name, tt := range map[string]struct {
		command string
		code    int
	}{
		"success": {`echo "task $FLUX_TASK_RANK of 3, it's \"quoted\""`, 0},
		"failure": {"exit 3", 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := makeCluster(3, fluxInImage, running(tt.command), func(c *v1alpha1.MiniCluster) {
				c.Spec.Tasks = ptr.To[int32](3)
				c.Spec.MaxSize = 4 // a host that isn't there
			})
			address := freeAddress(t)
			toml := brokerConfig(c)
			toml = strings.Replace(toml, `"tcp://eth0:%p"`, strconv.Quote("tcp://"+address), 1)
			toml = strings.Replace(toml, `"tcp://%h.`+domain(c)+`:%p"`, strconv.Quote("tcp://"+address), 1)
			certificate := NewCertificate(c.Name)
			ranks := make([]*exec.Cmd, 3)
			outputs := make([]strings.Builder, 3)
			for i := range ranks {
				r := newRig(t, t.TempDir(), c)
				r.write("config/broker.toml", toml, 0o644)
				r.write("curve/curve.cert", string(certificate), 0o400)
				require.NoError(t, os.Remove(filepath.Join(r.dir, "bin/flux")))
				ranks[i] = r.command(i)
				ranks[i].Stdout, ranks[i].Stderr = &outputs[i], &outputs[i]
				require.NoError(t, ranks[i].Start())
			}
			ended := make(chan error, 1)
			go func() { ended <- ranks[0].Wait() }()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the leader doesn't end")
			}
			for _, cmd := range ranks {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			}
			for _, cmd := range ranks[1:] {
				_ = cmd.Wait()
			}
			out := outputs[0].String()
			assert.Equal(t, tt.code, ranks[0].ProcessState.ExitCode(), out)
			if tt.code == 0 {
				for _, task := range []string{"0", "1", "2"} {
					assert.Contains(t, out, "task "+task+` of 3, it's "quoted"`)
				}
			}
		})
	}
}

func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
