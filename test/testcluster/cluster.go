package testcluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigEnv names a kubeconfig whose cluster is used instead of one of our own.
const kubeconfigEnv = "ARMATURE_TEST_KUBECONFIG"

// stopTimeout is more than devcluster takes to stop by its own rules, also on a machine that has much else to do.
const stopTimeout = 2 * time.Minute

// shared is the cluster of this test binary.
var shared = &cluster{options: defaults()}

// cluster is started once, and remembers how that went.
type cluster struct {
	options options

	once       sync.Once
	err        error
	kubeconfig string
	config     *rest.Config

	process *exec.Cmd
	// alive is the standard input of devcluster, which stops when it closes.
	alive io.Closer
}

func (c *cluster) start() error {
	c.once.Do(func() {
		if c.kubeconfig = os.Getenv(kubeconfigEnv); c.kubeconfig == "" {
			c.kubeconfig, c.err = c.run()
		}
		if c.err == nil {
			c.config, c.err = load(c.kubeconfig)
		}
	})
	return c.err
}

// load reads a kubeconfig. There is no client-side limit: it would only slow tests down.
func load(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", kubeconfig, err)
	}
	config.QPS = -1
	return config, nil
}

// run starts devcluster in a temporary directory and waits until it is ready.
func (c *cluster) run() (kubeconfig string, err error) {
	binary, err := findBinary()
	if err != nil {
		return "", err
	}
	// devcluster deletes the directory itself, so that nothing stays when this process is killed.
	dir, err := os.MkdirTemp("", "testcluster-")
	if err != nil {
		return "", err
	}
	args := append([]string{"up", "--temporary", "--with-parent", "--timeout", "5m", "--dir", dir}, c.options.flags()...)
	cmd := exec.Command(binary, args...)
	if c.alive, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start devcluster: %w", err)
	}
	c.process = cmd
	said, ready := waitReady(output)
	if !ready {
		_ = cmd.Wait()
		c.process = nil
		return "", fmt.Errorf("devcluster did not come up:\n%s%s", said, problems.String())
	}
	return filepath.Join(dir, "kubeconfig"), nil
}

// waitReady reads the output of `devcluster up` until it says how to use the cluster. The rest is read in the
// background, to keep the pipe from filling up.
func waitReady(output io.Reader) (said string, ready bool) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "export KUBECONFIG=") {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return said, true
		}
	}
	return said, false
}

// stop stops the cluster, if one was started here.
func (c *cluster) stop() error {
	if c.process == nil {
		return nil
	}
	c.alive.Close()
	done := make(chan error, 1)
	go func() { done <- c.process.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("stop devcluster: %w", err)
		}
		return nil
	case <-time.After(stopTimeout):
		_ = c.process.Process.Kill()
		return errors.New("stop devcluster: it did not stop and was killed")
	}
}
