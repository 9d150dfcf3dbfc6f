package binary

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

// Run runs armature with these arguments to its end, and returns what it printed and its exit code.
func Run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Path(t), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // its exit code tells
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// RunIn runs armature in a namespace of the test cluster.
func RunIn(t *testing.T, namespace string, args ...string) (out, errs string, code int) {
	t.Helper()
	return Run(t, append(args, "--kubeconfig", testcluster.Kubeconfig(t), "-n", namespace)...)
}

// StartManager runs a manager for namespaces of the test cluster. It listens nowhere and needs no lease, as there is no other one.
func StartManager(t *testing.T, namespaces ...string) *Process {
	t.Helper()
	return Start(t, "manager", "--kubeconfig", testcluster.Kubeconfig(t), "--watch-namespaces", strings.Join(namespaces, ","),
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false")
}
