package testcluster

import (
	"os/exec"
	"testing"
)

// Kubectl runs devcluster's kubectl on the cluster, and returns what it printed on both of its outputs.
func Kubectl(tb testing.TB, args ...string) (string, error) {
	tb.Helper()
	kubeconfig := Kubeconfig(tb)
	binary, err := findBinary()
	if err != nil {
		tb.Fatalf("testcluster: %v", err)
	}
	out, err := exec.CommandContext(tb.Context(), binary, append([]string{"kubectl", "--kubeconfig", kubeconfig}, args...)...).CombinedOutput()
	return string(out), err
}
