package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/kubeconfig"
)

// maxAttempts is how often a start is tried with other ports, when somebody took one in the meantime.
const maxAttempts = 5

// Supervisor runs the cluster of one directory.
type Supervisor struct {
	// Temporary says that the cluster's directory is deleted when it has stopped, so that nothing in it needs to be whole. Default: false.
	Temporary bool

	dir      clusterdir.Dir
	settings *clusterdir.Settings
	timeout  time.Duration
	out      io.Writer

	lock  *os.File
	state *state
	admin kubernetes.Interface

	keepers map[string]*keeper
	// wasReady is set once, before anything can stop because the cluster does.
	wasReady bool
	// fail ends the cluster because of an error.
	fail context.CancelCauseFunc
}

// New returns a supervisor for the cluster that settings describe. Progress goes to out. A start that takes
// longer than timeout fails.
func New(dir clusterdir.Dir, settings *clusterdir.Settings, timeout time.Duration, out io.Writer) *Supervisor {
	return &Supervisor{dir: dir, settings: settings, timeout: timeout, out: out}
}

// Run brings the cluster up, calls ready, and returns when ctx has ended and nothing of the cluster runs any
// more. An error means that it could not start or could not be kept running; nothing runs then either.
func (s *Supervisor) Run(ctx context.Context, ready func()) (err error) {
	if err := s.dir.Create(); err != nil {
		return err
	}
	if s.lock, err = s.dir.Lock(); err != nil {
		return err
	}
	defer s.lock.Close()
	defer s.dir.ClearRun()
	defer s.removeContexts()
	defer s.removeCgroups()

	began := time.Now()
	s.state = newState(s.dir, component.KubernetesVersion())
	for attempt := 1; ; attempt++ {
		err = s.attempt(ctx, func() {
			s.announce(time.Since(began))
			ready()
		})
		var failed *componentError
		if s.wasReady || attempt == maxAttempts || ctx.Err() != nil || !errors.As(err, &failed) || !failed.portTaken() {
			return err
		}
		fmt.Fprintf(s.out, "%s: port %d was taken by another program; trying another one\n", failed.name, s.settings.Ports[failed.name])
		delete(s.settings.Ports, failed.name)
		s.state.reset()
	}
}

// attempt is one start, and the cluster's life if it succeeds.
func (s *Supervisor) attempt(parent context.Context, ready func()) error {
	ctx, fail := context.WithCancelCause(parent)
	defer fail(nil)
	s.fail, s.keepers = fail, map[string]*keeper{}
	defer s.stopAll()

	if err := s.prepare(); err != nil {
		return err
	}
	startCtx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("not ready after %s", s.timeout))
	defer cancel()
	if err := s.start(startCtx); err != nil {
		if parent.Err() != nil {
			return errors.New("interrupted before the cluster was ready")
		}
		return err
	}
	s.wasReady = true
	s.state.phase(clusterdir.Ready)
	ready()
	<-ctx.Done()
	if parent.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

func (s *Supervisor) announce(took time.Duration) {
	fmt.Fprintf(s.out, "ready in %.1fs: Kubernetes %s at %s, %s\n\n",
		took.Seconds(), component.KubernetesVersion(), s.settings.APIServerURL(), nodesText(s.settings))
	if s.settings.WebhookURL != "" {
		fmt.Fprintf(s.out, "webhooks are called at %s, which serves with tls.crt and tls.key of\n%s\n\n",
			s.settings.WebhookURL, filepath.Dir(s.dir.Webhook("tls.crt")))
	}
	fmt.Fprintln(s.out, HowToUse(s.dir, s.settings))
}

// HowToUse is what a user types to work with the cluster.
func HowToUse(dir clusterdir.Dir, settings *clusterdir.Settings) string {
	if settings.Containers {
		return fmt.Sprintf("devcluster exec --dir %s -- kubectl get nodes", dir)
	}
	return "export KUBECONFIG=" + dir.Kubeconfig()
}

// removeCgroups removes what is left when the nodes have removed theirs.
func (s *Supervisor) removeCgroups() {
	if !s.settings.Containers {
		return
	}
	if err := containernode.RemoveCgroups(s.dir.Cgroup()); err != nil {
		fmt.Fprintln(s.out, err)
	}
}

func (s *Supervisor) removeContexts() {
	for _, file := range s.settings.Kubeconfigs {
		if err := kubeconfig.Remove(file, s.settings.ContextName()); err != nil {
			fmt.Fprintln(s.out, err)
		}
	}
}
