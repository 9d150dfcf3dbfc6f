package testcluster_test

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/testcluster"
)

// helperEnv makes this test binary a program that starts a cluster and then hangs, to be killed.
const helperEnv = "TESTCLUSTER_HANG"

func startAndHang() {
	kubeconfig, host, err := testcluster.StartShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s\n%s\n", kubeconfig, host)
	time.Sleep(time.Hour)
}

func TestClusterDiesWithAKilledTest(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	// A cluster of its own, even when the environment names one for the other tests.
	cmd.Env = append(os.Environ(), helperEnv+"=1", "ARMATURE_TEST_KUBECONFIG=")
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan(), "the helper says where its cluster is")
	dir := filepath.Dir(lines.Text())
	require.True(t, lines.Scan())
	server, err := url.Parse(lines.Text())
	require.NoError(t, err)
	require.DirExists(t, dir)

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	}, 10*time.Minute, 20*time.Millisecond, "the directory is deleted")
	_, err = net.Dial("tcp", server.Host)
	require.Error(t, err, "the port is closed")
}
