package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const othersKubeconfig = `apiVersion: v1
kind: Config
current-context: work
clusters: [{name: work, cluster: {server: "https://work.example"}}]
users: [{name: me, user: {token: secret}}]
contexts: [{name: work, context: {cluster: work, user: me}}]
`

// One cluster goes up, down, up with other flags, is killed, and comes back; beside it runs the shared one.
func TestDataOutlivesTheProcesses(t *testing.T) {
	other := sharedCluster(t)
	c := newCluster(t)
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte(othersKubeconfig), 0o600))

	said := c.run(t, "up", "--detach", "--nodes", "2", "--kubeconfig", file)
	assert.Contains(t, said, "export KUBECONFIG="+c.kubeconfig())
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "note"}, Data: map[string]string{"kept": "yes"}}
	_, err := c.client(t).CoreV1().ConfigMaps("default").Create(t.Context(), note, metav1.CreateOptions{})
	require.NoError(t, err)
	first, err := c.status(t)
	require.NoError(t, err)
	assert.Equal(t, 2, first.NodesReady)

	theirs, err := other.status(t)
	require.NoError(t, err, "two clusters run side by side")
	assert.Empty(t, intersection(first.ports(t), theirs.ports(t)))

	merged, err := clientcmd.LoadFromFile(file)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(merged.CurrentContext, "devcluster-"), merged.CurrentContext)
	assert.Contains(t, merged.Contexts, "work")
	assert.Equal(t, first.Server, merged.Clusters[merged.CurrentContext].Server)

	c.runForever(t)
	c.run(t, "down")
	c.requireGone(t, first.ports(t))
	left, err := clientcmd.LoadFromFile(file)
	require.NoError(t, err)
	assert.Len(t, left.Contexts, 1)
	assert.Equal(t, "secret", left.AuthInfos["me"].Token)
	_, err = c.status(t)
	assert.Error(t, err, "status fails when the cluster is down")
	assert.Contains(t, c.run(t, "down"), "was not running")

	// In the meantime somebody takes the API server's port. And other nodes are asked for.
	l, err := net.Listen("tcp", strings.TrimPrefix(first.Server, "https://"))
	require.NoError(t, err)
	defer l.Close()
	c.run(t, "up", "--detach", "--node-names", "node-2,third")
	second, err := c.status(t)
	require.NoError(t, err)
	assert.NotEqual(t, first.Server, second.Server)
	c.requireNote(t)
	nodes, err := c.client(t).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, n := range nodes.Items {
		names = append(names, n.Name)
	}
	assert.ElementsMatch(t, []string{"node-2", "third"}, names)

	// Nothing can be tidied up when the supervisor is killed; its components still go.
	c.requireForeverRuns(t)
	require.NoError(t, syscall.Kill(second.PID, syscall.SIGKILL))
	c.requireGone(t, second.ports(t))
	_, err = c.status(t)
	assert.Error(t, err)

	c.run(t, "up", "--detach")
	third, err := c.status(t)
	require.NoError(t, err)
	assert.Equal(t, second.Server, third.Server, "ports are kept, and kubeconfigs with them")
	assert.Equal(t, 2, third.Nodes, "nodes too, when no flag says otherwise")
	c.requireNote(t)
	c.run(t, "down", "--delete-data")
	c.requireGone(t, third.ports(t))
	assert.NoDirExists(t, c.dir)
}

// runForever makes a pod on node-2 whose process would outlive the cluster if nobody ended it. It names the
// cluster's directory, to be found by it.
func (c *testCluster) runForever(t *testing.T) {
	t.Helper()
	_, err := c.client(t).CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "forever"},
		Spec: corev1.PodSpec{
			NodeName:   "node-2",
			Containers: []corev1.Container{{Name: "c", Image: "none", Command: []string{"sh", "-c", "while :; do sleep 1; done # " + c.dir}}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	c.requireForeverRuns(t)
}

func (c *testCluster) requireForeverRuns(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		for _, process := range c.processes(t) {
			if strings.Contains(process, "while :;") {
				return nil
			}
		}
		return errors.New("the pod's process does not run")
	})
}

func (c *testCluster) requireNote(t *testing.T) {
	t.Helper()
	note, err := c.client(t).CoreV1().ConfigMaps("default").Get(t.Context(), "note", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "yes", note.Data["kept"])
}

func intersection(a, b []string) []string {
	var both []string
	for _, x := range a {
		for _, y := range b {
			if x == y {
				both = append(both, x)
			}
		}
	}
	return both
}

// In the foreground the cluster ends with ctrl-C, and a temporary one leaves nothing at all.
func TestForegroundEndsWithCtrlC(t *testing.T) {
	c := newCluster(t)
	cmd := program(c.args([]string{"up", "--nodes", "1", "--temporary"})...)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	waitLine(t, bufio.NewScanner(output), "export KUBECONFIG=")
	r, err := c.status(t)
	require.NoError(t, err)
	require.Equal(t, cmd.Process.Pid, r.PID)

	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait(), "ctrl-C is the normal end")
	assert.NoDirExists(t, c.dir)
	c.requireGone(t, r.ports(t))
}

func waitLine(t *testing.T, lines *bufio.Scanner, prefix string) {
	t.Helper()
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), prefix) {
			return
		}
	}
	require.Fail(t, fmt.Sprintf("no line starts with %q", prefix))
}

// Between picking a port and binding it, somebody else takes it.
func TestLostPortIsReplaced(t *testing.T) {
	c := newCluster(t)
	type result struct {
		l   net.Listener
		err error
	}
	taken := make(chan result, 1)
	// The ports are picked and written down, then the API server reads its audit policy, and when it is ready, the controller manager binds.
	policy := newPipe(t)
	go func() {
		l, err := c.takePort("kube-controller-manager", policy)
		taken <- result{l, err}
	}()
	said := c.run(t, "up", "--nodes", "0", "--detach", "--apiserver-flag", "audit-policy-file="+policy)
	other := <-taken
	require.NoError(t, other.err)
	l := other.l
	defer l.Close()
	assert.Contains(t, said, "kube-controller-manager: port")
	assert.Contains(t, said, "was taken")
	r, err := c.status(t)
	require.NoError(t, err)
	assert.True(t, r.Healthy)
	assert.NotContains(t, r.ports(t), l.Addr().String())
}

// newPipe makes a named pipe, which holds up who reads it until somebody writes to it.
func newPipe(t *testing.T) string {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	return pipe
}

// takePort listens on the port that was picked for a component, once an API server reads its audit policy from a pipe. The API server goes
// on then, and its next start finds a file there.
func (c *testCluster) takePort(component, pipe string) (net.Listener, error) {
	reader, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	data, err := os.ReadFile(filepath.Join(c.dir, "cluster.json"))
	if err != nil {
		return nil, err
	}
	settings := struct{ Ports map[string]int }{}
	if err := json.Unmarshal(data, &settings); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", settings.Ports[component]))
	if err != nil {
		return nil, err
	}
	policy := []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n")
	if err := os.WriteFile(pipe+".new", policy, 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(pipe+".new", pipe); err != nil {
		return nil, err
	}
	_, err = reader.Write(policy)
	return l, err
}

func TestFailedStartNamesTheComponentAndLeavesNothing(t *testing.T) {
	c := newCluster(t)
	require.NoError(t, os.MkdirAll(filepath.Join(c.dir, "logs"), 0o700))
	// A first start was interrupted, and what is in the place of etcd's data can't be used.
	c.spoilEtcd(t)
	said := c.fail(t, "up", "--nodes", "0")
	assert.Contains(t, said, "etcd: exit status 1")
	assert.Contains(t, said, "logs/etcd.log")
	assert.Contains(t, said, "not a directory", "the log's end is shown")
	c.requireGone(t, nil)

	said = c.fail(t, "up", "--nodes", "0", "--detach")
	assert.Contains(t, said, "etcd: exit status 1", "also from the background")
	c.requireGone(t, nil)
}

// The error of a temporary cluster may be all that its user has, so it keeps what explains the error.
func TestFailedTemporaryClusterKeepsItsLogs(t *testing.T) {
	c := newCluster(t)
	said := c.fail(t, "up", "--nodes", "0", "--temporary", "--apiserver-flag", "no-such-flag=1")
	assert.Contains(t, said, "no-such-flag")
	assert.Contains(t, said, "the logs are in "+filepath.Join(c.dir, "logs"))
	entries, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	assert.FileExists(t, filepath.Join(c.dir, "logs", "kube-apiserver.log"))
	c.requireGone(t, nil)
}

func (c *testCluster) spoilEtcd(t *testing.T) {
	t.Helper()
	settings := `{"kind":"DevCluster","name":"spoilt","nodes":[],"fakeNodes":0}`
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "cluster.json"), []byte(settings), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "etcd"), nil, 0o600))
}
