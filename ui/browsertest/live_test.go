package browsertest_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// cluster is a real cluster with Armature's operators, for all tests of this package; TestMain stops it.
type cluster struct {
	dir        string
	kubeconfig string
	manager    *exec.Cmd
}

var live struct {
	once sync.Once
	c    *cluster
	err  error
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	defer func() {
		if live.c != nil {
			live.c.stop()
		}
	}()
	return m.Run()
}

func binary(variable, name string) string {
	path, err := filepath.Abs(cmp.Or(os.Getenv(variable), "../../bin/"+name))
	if err != nil {
		panic(err)
	}
	return path
}

// theCluster starts the cluster for the first test that asks for it.
func theCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("this needs a cluster")
	}
	live.once.Do(func() { live.c, live.err = startCluster() })
	if live.err != nil {
		t.Fatal(live.err)
	}
	return live.c
}

func startCluster() (*cluster, error) {
	dir, err := os.MkdirTemp("", "armature-browsertest-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, kubeconfig: filepath.Join(dir, "cluster", "kubeconfig")}
	up := exec.Command(binary("DEVCLUSTER_BIN", "devcluster"), "up", "--detach", "--dir", filepath.Join(dir, "cluster"),
		"--node-names", "minikube,node-2,node-3", "--fake-nodes", "60", "--timeout", "8m")
	if out, err := up.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("devcluster up: %w\n%s", err, out)
	}
	for _, crds := range []string{"../../config/crd", "../../examples/pinot/config"} {
		if out, err := c.kubectl("", "apply", "--server-side", "-f", crds); err != nil {
			return c, fmt.Errorf("%w\n%s", err, out)
		}
	}
	// A CRD without any condition yet is an error of "kubectl wait --for=condition".
	for _, served := range []string{"jsonpath={.status.conditions[0].type}", "condition=Established"} {
		if out, err := c.kubectl("", "wait", "--for="+served, "crd", "--all", "--timeout=5m"); err != nil {
			return c, fmt.Errorf("%w\n%s", err, out)
		}
	}
	// Simulated nodes are for DaemonJobs: what runs on them ends at once.
	if out, err := c.kubectl("", "taint", "nodes", "-l", "devcluster.armature.dev/fake=true", "simulated=true:NoSchedule"); err != nil {
		return c, fmt.Errorf("%w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "manager.log"))
	if err != nil {
		return c, err
	}
	c.manager = exec.Command(binary("ARMATURE_BIN", "armature"), "manager", "--kubeconfig", c.kubeconfig,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=90s")
	c.manager.Stdout, c.manager.Stderr = log, log
	return c, c.manager.Start()
}

func (c *cluster) stop() {
	if c.manager != nil && c.manager.Process != nil {
		_ = c.manager.Process.Signal(os.Interrupt)
		_ = c.manager.Wait()
	}
	_ = exec.Command(binary("DEVCLUSTER_BIN", "devcluster"), "down", "--dir", filepath.Join(c.dir, "cluster")).Run()
	_ = os.RemoveAll(c.dir)
}

// kubectl runs a command with input.
func (c *cluster) kubectl(input string, args ...string) (string, error) {
	cmd := exec.Command(binary("DEVCLUSTER_BIN", "devcluster"), append([]string{"kubectl", "--kubeconfig", c.kubeconfig}, args...)...)
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return string(out), err
}

// must runs kubectl, and fails the test if it fails.
func (c *cluster) must(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := c.kubectl(input, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// namespace creates a namespace, and deletes it after the test.
func (c *cluster) namespace(t *testing.T, name string) string {
	t.Helper()
	c.must(t, "", "create", "namespace", name)
	t.Cleanup(func() { _, _ = c.kubectl("", "delete", "namespace", name, "--wait=false") })
	return name
}

// apply creates objects in a namespace.
func (c *cluster) apply(t *testing.T, namespace, yaml string) {
	t.Helper()
	c.must(t, yaml, "apply", "-n", namespace, "-f", "-")
}

// eventually waits until kubectl prints a text.
func (c *cluster) eventually(t *testing.T, want string, args ...string) {
	t.Helper()
	deadline := time.After(90 * time.Second)
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := c.kubectl("", args...)
		if err == nil && strings.Contains(out, want) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("kubectl %s never says %q, but %s", strings.Join(args, " "), want, out)
		case <-tick.C:
		}
	}
}

// lines collects what a program prints, and gives the first match of an expression.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (l *lines) await(t *testing.T, expression string) string {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		l.mu.Lock()
		found := regexp.MustCompile(expression).FindString(l.text.String())
		text := l.text.String()
		l.mu.Unlock()
		if found != "" {
			return found
		}
		select {
		case <-l.more:
		case <-deadline:
			t.Fatalf("armature ui never printed %s:\n%s", expression, text)
		}
	}
}

// serve runs "armature ui" with a kubeconfig, and returns the link that it prints. Serve before you open a page, so that the
// page is closed first:
// it reports streams that end in their middle.
func serve(t *testing.T, kubeconfig string, more ...string) (link string) {
	t.Helper()
	return start(t, `http://127\.0\.0\.1:\d+/\S*#token=\S+`, append([]string{"--kubeconfig", kubeconfig, "--open=false"}, more...)...)
}

// start runs "armature ui", and returns the first text that it prints of an expression.
func start(t *testing.T, expression string, args ...string) string {
	t.Helper()
	out := &lines{more: make(chan struct{}, 1)}
	cmd := exec.Command(binary("ARMATURE_BIN", "armature"), append([]string{"ui"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	return out.await(t, expression)
}

// at is a path of the served page, once the page has a session.
func at(link, path string) string { return link[:strings.Index(link[7:], "/")+7] + path }
