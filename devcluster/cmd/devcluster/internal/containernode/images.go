package containernode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const containerdSocket = "/run/containerd/containerd.sock"

// Import is the command that imports an OCI archive into the containerd at the socket, for pods to run. ctr is the
// path of that program.
func Import(ctr, socket, archive string) *exec.Cmd {
	return exec.Command(ctr, "--address", socket, "--namespace", "k8s.io", "images", "import", archive)
}

// Socket is where the containerd of the node with this directory listens, seen from outside.
func Socket(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, pidFileName))
	if err != nil {
		return "", fmt.Errorf("find the node's processes: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("find the node's processes: %w", err)
	}
	return fmt.Sprintf("/proc/%d/root%s", pid, containerdSocket), nil
}
