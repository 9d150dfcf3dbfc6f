package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	pollEvery = 50 * time.Millisecond
	patience  = 2 * time.Minute
)

// program is a command line of the program, ready to run.
func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), runEnv+"=1")
	return cmd
}

// run runs the program and returns what it wrote to both outputs.
func run(args ...string) (stdout, stderr string, err error) {
	cmd := program(args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// testCluster is a cluster in a directory.
type testCluster struct {
	dir string
}

// newCluster returns a cluster that is not up yet, and that is deleted with the test.
func newCluster(t *testing.T) *testCluster {
	t.Helper()
	c := &testCluster{dir: filepath.Join(t.TempDir(), ".devcluster")}
	t.Cleanup(func() {
		if _, err := os.Stat(c.dir); err == nil {
			_, _, _ = run("delete", "--dir", c.dir)
		}
	})
	return c
}

// run runs a subcommand on the cluster, and fails the test if it fails.
func (c *testCluster) run(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, err := run(c.args(args)...)
	require.NoErrorf(t, err, "devcluster %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	return stdout
}

// fail runs a subcommand that has to fail, and returns all that it says.
func (c *testCluster) fail(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, err := run(c.args(args)...)
	var exit *exec.ExitError
	require.ErrorAsf(t, err, &exit, "devcluster %s succeeded:\n%s", strings.Join(args, " "), stdout)
	require.Equal(t, 1, exit.ExitCode(), stderr)
	return stdout + stderr
}

func (c *testCluster) args(args []string) []string {
	first := []string{args[0], "--dir", c.dir}
	if args[0] == "up" {
		first = append(first, "--timeout", "8m") // the machine may be busy; go test stops without a cleanup after 20m
	}
	return append(first, args[1:]...)
}

func (c *testCluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

func (c *testCluster) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(t, err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// report is the part of `status -o json` that tests look at.
type report struct {
	Running, Healthy  bool
	Problem, Server   string
	PID               int
	NodesReady, Nodes int
	Components        []struct {
		Name, State, Endpoint string
		PID, Restarts         int
	}
}

func (c *testCluster) status(t *testing.T) (report, error) {
	t.Helper()
	stdout, _, err := run("status", "--dir", c.dir, "-o", "json")
	var r report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r), stdout)
	return r, err
}

// ports are the addresses on which the cluster listens.
func (r report) ports(t *testing.T) []string {
	t.Helper()
	var ports []string
	for _, c := range r.Components {
		if u, err := url.Parse(c.Endpoint); err == nil && u.Host != "" {
			ports = append(ports, u.Host)
		}
	}
	require.NotEmpty(t, ports)
	return ports
}

// requireGone waits until no process mentions the cluster's directory and none of the ports accepts.
func (c *testCluster) requireGone(t *testing.T, ports []string) {
	t.Helper()
	eventually(t, func() error {
		left := c.processes(t)
		for _, port := range ports {
			if conn, err := net.Dial("tcp", port); err == nil {
				conn.Close()
				left = append(left, "port "+port)
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("of the cluster in %s there is still: %s", c.dir, strings.Join(left, "\n"))
		}
		return nil
	})
}

// processes are the command lines that mention the directory: each component has a path of it in its flags.
func (c *testCluster) processes(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, line := range commandLines(t) {
		if strings.Contains(line, c.dir) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// commandLines are those of all processes, after their ids. Linux has /proc, but not always ps; elsewhere it is the other way round.
func commandLines(t *testing.T) []string {
	t.Helper()
	var lines []string
	if runtime.GOOS != "linux" {
		output, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
		require.NoError(t, err)
		return strings.Split(string(output), "\n")
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		line, _ := os.ReadFile(file) // it may have ended since
		lines = append(lines, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return lines
}

// eventually polls until check returns no error. A pause of this process, or of what it checks, uses no patience up: of each round at
// most a second counts.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	for waited := time.Duration(0); ; {
		began := time.Now()
		err := check()
		if err == nil {
			return
		}
		if waited >= patience {
			require.NoError(t, err)
		}
		time.Sleep(pollEvery)
		waited += min(time.Since(began), time.Second)
	}
}
