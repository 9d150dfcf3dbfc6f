//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stop stops a node's kubelet, until back is called, or the test ends.
func stop(t *testing.T, node string) (back func()) {
	t.Helper()
	kubelet := kubeletOf(t, node)
	require.NoError(t, syscall.Kill(kubelet, syscall.SIGSTOP))
	stopped := true
	back = func() {
		if stopped {
			stopped = false
			require.NoError(t, syscall.Kill(kubelet, syscall.SIGCONT))
		}
	}
	t.Cleanup(back)
	return back
}

// nodeReady fails unless a node's condition Ready has a status.
func nodeReady(ctx context.Context, name string, want corev1.ConditionStatus) error {
	node := &corev1.Node{}
	if err := cluster.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == want {
			return nil
		}
	}
	return fmt.Errorf("node %s is not Ready=%s", name, want)
}

// unreachableNode fails unless Kubernetes has told of a node that no pod may be on it since nothing is heard of it. That
// comes a moment after the condition.
func unreachableNode(ctx context.Context, name string) error {
	node := &corev1.Node{}
	if err := cluster.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return err
	}
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		taint := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: effect}
		if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
			return fmt.Errorf("node %s has the taints %v", name, node.Spec.Taints)
		}
	}
	return nil
}

// kubeletOf is the PID of a node's kubelet: the one in the PID namespace of the node's first process.
func kubeletOf(t *testing.T, node string) int {
	t.Helper()
	first, err := os.ReadFile(filepath.Join(os.Getenv("E2E_CLUSTER"), "nodes", node, "init.pid"))
	require.NoError(t, err)
	namespace, err := os.Readlink(fmt.Sprintf("/proc/%s/ns/pid", strings.TrimSpace(string(first))))
	require.NoError(t, err)
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	require.NoError(t, err)
	for _, name := range names {
		comm, err := os.ReadFile(name)
		if err != nil || string(comm) != "kubelet\n" {
			continue
		}
		if at, err := os.Readlink(filepath.Join(filepath.Dir(name), "ns", "pid")); err == nil && at == namespace {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			require.NoError(t, err)
			return pid
		}
	}
	t.Fatalf("node %s has no kubelet", node)
	return 0
}
