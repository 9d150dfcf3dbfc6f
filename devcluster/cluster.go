package devcluster

import (
	"bufio"
	"context"
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

// kubeconfigEnv names a kubeconfig whose cluster is used instead of one that is started.
const kubeconfigEnv = "DEVCLUSTER_KUBECONFIG"

// stopTimeout is more than devcluster takes to stop by its own rules, also on a machine that has much else to do.
const stopTimeout = 2 * time.Minute

// Cluster is a cluster that runs. Its methods may be called at the same time.
type Cluster struct {
	dir        string // empty for a cluster that the environment names
	binary     string
	kubeconfig string
	config     *rest.Config
	webhooks   *Webhooks

	process *exec.Cmd
	// alive is the standard input of devcluster, which stops when it closes, at the latest with this process.
	alive io.Closer
	// output has the end of what devcluster wrote. Its standard output has been read to its end when drained closes.
	output   *output
	drained  chan struct{}
	stopping sync.Once
	stopErr  error
}

// Up starts a cluster, for programs and for TestMain. [Cluster.Stop] stops it; it also stops when this process ends in any way. An error
// has the output of `devcluster up`. The context ends a start, and not the cluster.
func Up(ctx context.Context, opts ...Option) (*Cluster, error) {
	return up(ctx, newOptions(opts))
}

func up(ctx context.Context, o *options) (*Cluster, error) {
	c := &Cluster{kubeconfig: os.Getenv(kubeconfigEnv)}
	if c.kubeconfig == "" {
		if err := c.start(ctx, o); err != nil {
			return nil, err
		}
	} else if o.webhooks {
		return nil, fmt.Errorf("%s=%s: its API server isn't known to call webhooks of this process; unset %s for tests of webhooks",
			kubeconfigEnv, c.kubeconfig, kubeconfigEnv)
	}
	err := c.connect()
	if err == nil {
		err = apply(ctx, c.config, o.manifests)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// connect reads the kubeconfig. A client-side limit would only slow tests down.
func (c *Cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		return fmt.Errorf("load %s: %w", c.kubeconfig, err)
	}
	config.QPS = -1
	c.config = config
	return nil
}

// Config returns a connection to the cluster with all rights. The caller may change it.
func (c *Cluster) Config() *rest.Config {
	return rest.CopyConfig(c.config)
}

// Kubeconfig returns the path of a kubeconfig file, for programs that a test runs. The file is gone when the cluster has stopped.
func (c *Cluster) Kubeconfig() string {
	return c.kubeconfig
}

// Kubectl runs the kubectl of devcluster on the cluster, and returns what it printed on both of its outputs.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	binary, err := c.program(ctx)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, binary, append([]string{"kubectl", "--kubeconfig", c.kubeconfig}, args...)...).CombinedOutput()
	return string(out), err
}

func (c *Cluster) program(ctx context.Context) (string, error) {
	if c.binary != "" {
		return c.binary, nil
	}
	return Binary(ctx)
}

// start runs `devcluster up` in a temporary directory and waits until it is ready. devcluster deletes the directory itself, so that
// nothing remains when this process is killed.
func (c *Cluster) start(ctx context.Context, o *options) (err error) {
	if err := o.refuse(); err != nil {
		return err
	}
	if c.binary, err = Binary(ctx); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "devcluster-"); err != nil {
		return err
	}
	defer func() {
		// A devcluster that could not run leaves the directory. One that could not start its cluster leaves its logs, which the error names.
		if logs, _ := os.ReadDir(filepath.Join(c.dir, "logs")); err != nil && len(logs) == 0 {
			_ = os.RemoveAll(c.dir)
		}
	}()
	args := append([]string{"up", "--temporary", "--with-parent", "--dir", c.dir}, o.up()...)
	if o.webhooks {
		if c.webhooks, err = newWebhooks(c.dir); err != nil {
			return err
		}
		args = append(args, "--webhook-url="+c.webhooks.url())
	}
	cmd := exec.Command(c.binary, args...)
	if c.alive, err = cmd.StdinPipe(); err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	c.output, c.drained = &output{to: o.output}, make(chan struct{})
	cmd.Stderr = c.output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start devcluster: %w", err)
	}
	c.process = cmd
	defer context.AfterFunc(ctx, func() { _ = c.alive.Close() })()
	said := io.TeeReader(stdout, c.output)
	ready := waitReady(said)
	// The pipe must not fill up while the cluster runs.
	go func() {
		defer close(c.drained)
		_, _ = io.Copy(io.Discard, said)
	}()
	if ready && ctx.Err() == nil {
		c.kubeconfig = filepath.Join(c.dir, "kubeconfig")
		return nil
	}
	_ = c.alive.Close()
	<-c.drained
	_ = cmd.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return fmt.Errorf("%s did not start a cluster:\n%s", strings.Join(cmd.Args, " "), c.output)
}

// waitReady reads the output of `devcluster up` until it says how to use the cluster, or until the output ends.
func waitReady(output io.Reader) bool {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "export KUBECONFIG=") {
			return true
		}
	}
	return false
}

// Stop stops the cluster and returns when all of it is gone. A cluster that the environment names keeps running. An error of a cluster that
// ended before, because a component of it could not be kept running, has the end of the output of devcluster, which names the component
// and the directory of the logs.
func (c *Cluster) Stop() error {
	c.stopping.Do(func() { c.stopErr = c.stop() })
	return c.stopErr
}

func (c *Cluster) stop() error {
	if c.process == nil {
		return nil
	}
	_ = c.alive.Close()
	done := make(chan error, 1)
	go func() {
		<-c.drained
		done <- c.process.Wait()
	}()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("stop devcluster: %w\n%s", err, c.output)
		}
		return nil
	case <-time.After(stopTimeout):
		_ = c.process.Process.Kill()
		return fmt.Errorf("stop devcluster: it did not stop within %s and was killed; its logs are in %s",
			stopTimeout, filepath.Join(c.dir, "logs"))
	}
}
