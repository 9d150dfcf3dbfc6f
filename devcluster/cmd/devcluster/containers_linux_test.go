//go:build nodes

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
)

// These tests need root, and the programs that `make nodes` builds; `make test-nodes` runs them.

const pauseManifest = `apiVersion: v1
kind: Pod
metadata: {name: on-%[1]s}
spec:
  nodeName: %[1]s
  terminationGracePeriodSeconds: 1
  containers: [{name: pause, image: "devcluster/pause:1", imagePullPolicy: Never}]
---
`

func TestContainersComeBackAndLeaveNothing(t *testing.T) {
	binaries, err := filepath.Abs("../../../bin/nodes")
	require.NoError(t, err)
	before := lookAround(t)
	c := newCluster(t)
	c.run(t, "up", "--containers", "--nodes", "2", "--node-binaries", binaries, "--detach")

	c.apply(t, fmt.Sprintf(pauseManifest, "node-1")+fmt.Sprintf(pauseManifest, "node-2"))
	c.run(t, "kubectl", "--", "wait", "--for=condition=Ready", "pod", "--all", "--timeout=180s")
	address := strings.Fields(c.run(t, "exec", "--", "kubectl", "get", "pods", "-o", "jsonpath={.items[*].status.podIP}"))
	require.Len(t, address, 2)
	assert.True(t, strings.HasPrefix(address[0], "10.244.1."), address)
	assert.True(t, strings.HasPrefix(address[1], "10.244.2."), address)
	for route := range strings.SplitSeq(strings.TrimSpace(c.run(t, "exec", "--", "cat", "/proc/net/route")), "\n") {
		assert.NotEqual(t, "00000000", strings.Fields(route)[1], "there is a route out: %s", route)
	}

	network := c.namespaces(t)
	assert.Contains(t, c.run(t, "down"), "stopped")
	c.requireNothingLeft(t, before, network)

	// Without a flag it comes back as it was, and the pods with it.
	c.run(t, "up", "--detach")
	c.run(t, "kubectl", "--", "wait", "--for=condition=Ready", "pod", "--all", "--timeout=180s")

	// All at once, the supervisor too: it comes up again at once, with nothing to tidy up first.
	c.killAll(t)
	c.run(t, "up", "--detach")
	c.run(t, "kubectl", "--", "wait", "--for=condition=Ready", "pod", "--all", "--timeout=180s")

	// The kernel ends the nodes, and `down` removes what the kernel keeps.
	network = c.namespaces(t)
	c.killAll(t)
	c.run(t, "down")
	c.requireNothingLeft(t, before, network)
	c.run(t, "delete")
	assert.NoDirExists(t, c.dir)
}

const absentManifest = `apiVersion: v1
kind: Pod
metadata: {name: absent}
spec: {containers: [{name: main, image: "registry.example/absent:1"}]}
`

func TestContainersOfOneNode(t *testing.T) {
	binaries, err := filepath.Abs("../../../bin/nodes")
	require.NoError(t, err)
	c := newCluster(t)
	c.run(t, "up", "--containers", "--nodes", "1", "--node-binaries", binaries, "--detach")
	t.Run("an absent image is refused", c.absentImageIsRefused)
	t.Run("a killed node is another boot", c.killedNodeIsAnotherBoot)
}

// Nodes ask the cluster's DNS, which knows at once that there is no such registry. The machine's servers can't be reached.
func (c *testCluster) absentImageIsRefused(t *testing.T) {
	c.apply(t, absentManifest)
	c.run(t, "kubectl", "--", "wait", "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff", "pod/absent", "--timeout=180s")
	eventually(t, func() error { // the first answer may have been lost
		message := c.run(t, "kubectl", "--", "get", "events", "--field-selector=involvedObject.name=absent", "-o", "jsonpath={.items[*].message}")
		if want := "lookup registry.example on 10.89.0.1:53: no such host"; !strings.Contains(message, want) {
			return fmt.Errorf("no event has %q: %s", want, message)
		}
		return nil
	})
}

func (c *testCluster) killedNodeIsAnotherBoot(t *testing.T) {
	c.apply(t, fmt.Sprintf(pauseManifest, "node-1"))
	c.run(t, "kubectl", "--", "wait", "--for=condition=Ready", "pod/on-node-1", "--timeout=180s")

	r, err := c.status(t)
	require.NoError(t, err)
	killed := false
	for _, component := range r.Components {
		if component.Name == "node.node-1" {
			killed = syscall.Kill(component.PID, syscall.SIGKILL) == nil
		}
	}
	require.True(t, killed)
	c.run(t, "kubectl", "--", "wait", "--for=jsonpath={.status.containerStatuses[0].restartCount}=1", "pod/on-node-1", "--timeout=180s")
	c.run(t, "kubectl", "--", "wait", "--for=condition=Ready", "pod/on-node-1", "--timeout=180s")
}

func (c *testCluster) apply(t *testing.T, manifest string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
	c.run(t, "kubectl", "--", "apply", "-f", file)
}

// surroundings are what a cluster could change of the machine.
type surroundings struct {
	links    []string
	mounts   []string
	settings map[string]string
}

func lookAround(t *testing.T) surroundings {
	t.Helper()
	s := surroundings{settings: map[string]string{}}
	links, err := net.Interfaces()
	require.NoError(t, err)
	for _, link := range links {
		s.links = append(s.links, link.Name)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	s.mounts = strings.Split(string(mounts), "\n")
	for _, name := range []string{
		"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys",
		"kernel/keys/root_maxbytes", "net/ipv4/ip_forward", "net/netfilter/nf_conntrack_max",
	} {
		value, err := os.ReadFile("/proc/sys/" + name)
		if os.IsNotExist(err) {
			continue // until something needs the kernel's module
		}
		require.NoError(t, err)
		s.settings[name] = string(value)
	}
	return s
}

func (c *testCluster) killAll(t *testing.T) {
	t.Helper()
	for _, line := range c.processes(t) {
		pid, err := strconv.Atoi(strings.Fields(line)[0])
		require.NoError(t, err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// namespaces are the network and mount namespaces of the cluster's processes, but for the machine's own.
func (c *testCluster) namespaces(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, line := range c.processes(t) {
		for _, kind := range []string{"net", "mnt", "pid"} {
			here, err := os.Readlink("/proc/self/ns/" + kind)
			require.NoError(t, err)
			there, err := os.Readlink("/proc/" + strings.Fields(line)[0] + "/ns/" + kind)
			if err == nil && there != here {
				found = append(found, there)
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

func (c *testCluster) requireNothingLeft(t *testing.T, before surroundings, namespaces []string) {
	t.Helper()
	eventually(t, func() error {
		if left := c.processes(t); len(left) > 0 {
			return fmt.Errorf("processes: %s", strings.Join(left, "\n"))
		}
		links, err := filepath.Glob("/proc/[0-9]*/ns/*")
		if err != nil {
			return err
		}
		for _, link := range links {
			if at, err := os.Readlink(link); err == nil && slices.Contains(namespaces, at) {
				return fmt.Errorf("%s is still in %s", link, at)
			}
		}
		name := clusterdir.Dir(c.dir).Cgroup()
		cgroups, err := filepath.Glob("/sys/fs/cgroup/*/" + name)
		if len(cgroups) > 0 || err != nil {
			return fmt.Errorf("cgroups: %s: %w", cgroups, err)
		}
		return nil
	})
	after := lookAround(t)
	assert.Equal(t, before.links, after.links)
	assert.Subset(t, before.mounts, after.mounts) // the machine's own may go meanwhile
	for name, value := range before.settings {
		assert.Equal(t, value, after.settings[name], name)
	}
}
