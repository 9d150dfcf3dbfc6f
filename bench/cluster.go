package main

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

// cluster is a devcluster that goes with this process.
type cluster struct {
	binary  string
	dir     string
	process *exec.Cmd
	alive   io.Closer // devcluster stops when it closes
	manager int       // the process of the controller manager, stopped
	version string
}

func startCluster(binary string) (*cluster, error) {
	dir, err := os.MkdirTemp("", "armature-bench-")
	if err != nil {
		return nil, err
	}
	c := &cluster{binary: binary, dir: dir}
	c.process = exec.Command(binary, "up", "--temporary", "--with-parent", "--nodes", "0", "--dir", dir)
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
			return c, c.quiet()
		}
	}
	return nil, errors.Join(errors.New("devcluster did not come up"), c.process.Wait())
}

// quiet stops the controller manager, without ending it: what it would do about Deployments is not to be measured.
func (c *cluster) quiet() error {
	data, err := exec.Command(c.binary, "status", "--dir", c.dir, "-o", "json").Output()
	if err != nil {
		return fmt.Errorf("devcluster status: %w", err)
	}
	var status struct {
		Version    string
		Components []struct {
			Name string
			PID  int
		}
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return err
	}
	c.version = status.Version
	for _, component := range status.Components {
		if component.Name == "kube-controller-manager" && component.PID > 0 {
			c.manager = component.PID
			return syscall.Kill(c.manager, syscall.SIGSTOP)
		}
	}
	return errors.New("devcluster status names no controller manager")
}

// config is a connection without client-side limits.
func (c *cluster) config() (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(c.dir, "kubeconfig"))
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	return cfg, nil
}

func (c *cluster) stop() error {
	if c.manager != 0 {
		_ = syscall.Kill(c.manager, syscall.SIGCONT)
	}
	c.alive.Close()
	return c.process.Wait()
}
