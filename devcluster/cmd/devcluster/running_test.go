package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStatusShowsComponentsAndNodes(t *testing.T) {
	c := sharedCluster(t)
	r, err := c.status(t)
	require.NoError(t, err)
	assert.True(t, r.Healthy)
	assert.Equal(t, 5, r.NodesReady)
	for _, component := range r.Components {
		assert.Equal(t, "Running", component.State, component.Name)
		assert.Positive(t, component.PID, component.Name)
		assert.NotContains(t, component.Endpoint, "0.0.0.0")
	}
	table := c.run(t, "status")
	for _, want := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "local-nodes",
		"fake-nodes", "5 of 5", c.kubeconfig(), "https://127.0.0.1:"} {
		assert.Contains(t, table, want)
	}
}

func TestNodesHaveTheirNamesAndLabels(t *testing.T) {
	c := sharedCluster(t)
	for label, want := range map[string][]string{
		"devcluster.armature.dev/local=true": strings.Split(sharedNodes, ","),
		"devcluster.armature.dev/fake=true":  {"fake-0", "fake-1", "fake-2"},
	} {
		nodes, err := c.client(t).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: label})
		require.NoError(t, err)
		var names []string
		for _, node := range nodes.Items {
			names = append(names, node.Name)
			assert.Empty(t, node.Spec.Taints, node.Name)
		}
		assert.ElementsMatch(t, want, names)
	}
}

func TestKubectlIsBuiltIn(t *testing.T) {
	c := sharedCluster(t)
	assert.Equal(t, "ok", c.run(t, "kubectl", "get", "--raw", "/readyz"))
	assert.Equal(t, "ok", c.run(t, "kubectl", "--", "get", "--raw", "/readyz"))
	assert.Contains(t, c.run(t, "kubectl", "version"), "Server Version: v1.")
	assert.Contains(t, c.fail(t, "kubectl", "get", "nonsense"), `the server doesn't have a resource type "nonsense"`)
}

func TestAuditLogHasWhatThePolicyNames(t *testing.T) {
	c := sharedCluster(t)
	c.run(t, "kubectl", "--", "create", "configmap", "audited")
	c.run(t, "kubectl", "--", "label", "configmap", "audited", "a=b")
	log, err := os.ReadFile(filepath.Join(c.dir, "logs", "audit.log"))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(log), `"name":"audited"`), "the creation, and not the label")
}

func TestExecSetsTheKubeconfig(t *testing.T) {
	c := sharedCluster(t)
	assert.Equal(t, c.kubeconfig()+"\n", c.run(t, "exec", "--", "sh", "-c", "echo $KUBECONFIG"))
	assert.Contains(t, c.fail(t, "exec", "no-such-command"), "no-such-command")
}

func TestLocalNodesRunNoImages(t *testing.T) {
	c := sharedCluster(t)
	assert.Contains(t, c.fail(t, "load", "image.tar"), "devcluster up --containers")
}

func TestSecondUp(t *testing.T) {
	c := sharedCluster(t)
	assert.Contains(t, c.run(t, "up", "--detach"), "already running")
	assert.Contains(t, c.run(t, "up", "--detach", "--nodes", "2", "--fake-nodes", "3"), "already running")
	assert.Contains(t, c.fail(t, "up"), "already running")
	assert.Contains(t, c.fail(t, "up", "--detach", "--nodes", "1", "--fake-nodes", "9"),
		"its nodes are minikube, worker-b, not node-1; its fake nodes are 3, not 9")
}

// A component that dies is started again where it was, and the cluster goes on.
func TestDeadComponentIsStartedAgain(t *testing.T) {
	c := sharedCluster(t)
	before, err := c.status(t)
	require.NoError(t, err)
	for _, component := range before.Components {
		require.NoError(t, syscall.Kill(component.PID, syscall.SIGKILL), component.Name)
	}
	eventually(t, func() error {
		after, err := c.status(t)
		if err != nil {
			return fmt.Errorf("%w: %s", err, after.Problem)
		}
		for i, component := range after.Components {
			if component.PID == before.Components[i].PID || component.Restarts == 0 {
				return errors.New(component.Name + " was not started again")
			}
			assert.Equal(t, before.Components[i].Endpoint, component.Endpoint)
		}
		return nil
	})
	c.requireJobCompletes(t, fakeJob("after-restart", nil))
}
