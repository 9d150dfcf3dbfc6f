package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is a devcluster that goes with this process.
type Cluster struct {
	// Version is that of its Kubernetes.
	Version string

	binary  string
	dir     string
	process *exec.Cmd
	alive   io.Closer // devcluster stops when it closes
	manager int       // the process of the controller manager, if it is stopped
}

// StartCluster starts a devcluster of its own from a binary, with these flags of `devcluster up`, and waits until it is
// ready.
func StartCluster(binary string, flags ...string) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "armature-bench-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{binary: binary, dir: dir}
	c.process = exec.Command(binary, append([]string{"up", "--temporary", "--with-parent", "--dir", dir}, flags...)...)
	if c.alive, err = c.process.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.process.Stderr = os.Stderr
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "export KUBECONFIG=") {
			go func() { _, _ = io.Copy(io.Discard, output) }() // keeps the pipe from filling up
			status, err := c.status()
			c.Version = status.Version
			return c, err
		}
	}
	return nil, errors.Join(errors.New("devcluster did not come up"), c.process.Wait())
}

// status is what `devcluster status` says.
type status struct {
	Version    string
	Components []struct {
		Name string
		PID  int
	}
}

func (c *Cluster) status() (status, error) {
	var s status
	data, err := exec.Command(c.binary, "status", "--dir", c.dir, "-o", "json").Output()
	if err != nil {
		return s, fmt.Errorf("devcluster status: %w", err)
	}
	return s, json.Unmarshal(data, &s)
}

// StopControllers stops the controller manager, without ending it, so that nothing but what is measured writes.
func (c *Cluster) StopControllers() error {
	status, err := c.status()
	if err != nil {
		return err
	}
	for _, component := range status.Components {
		if component.Name == "kube-controller-manager" && component.PID > 0 {
			c.manager = component.PID
			return syscall.Kill(c.manager, syscall.SIGSTOP)
		}
	}
	return errors.New("devcluster status names no controller manager")
}

// Kubeconfig is the file that says how to reach the cluster.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// Config is a connection without client-side limits.
func (c *Cluster) Config() (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	return cfg, nil
}

// Stop stops the cluster and deletes all of it.
func (c *Cluster) Stop() error {
	if c.manager != 0 {
		_ = syscall.Kill(c.manager, syscall.SIGCONT)
	}
	c.alive.Close()
	return c.process.Wait()
}
