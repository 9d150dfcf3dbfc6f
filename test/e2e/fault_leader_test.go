//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// apiServer is where the nodes reach it: see devcluster/docs/containers.md.
const apiServer = "10.89.0.1"

// What the leader's node sends to the API server gets lost. The other manager takes over; the old leader ends before, and
// doesn't write any more, also when the network is back.
func TestLeaderCutOff(t *testing.T) {
	s := newFault(t)
	old, process := s.leaderAtWork()

	heal := cutOff(t, old.pod.Spec.NodeName)
	next := s.awaitLeader(old.pod.Name)
	s.awaitWriteBy(next.pod.Name)
	s.eventually("the old leader to end", func() error { return gone(process) })
	heal()

	s.awaitManagers()
	s.requireWorkDone()
	s.requireOnlyLeadersWrote()
}

// The leader stands still for longer than its lease lasts, and then goes on where it was, not knowing that another one leads.
func TestLeaderFrozen(t *testing.T) {
	s := newFault(t)
	old, process := s.leaderAtWork()
	require.NoError(t, syscall.Kill(process, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(process, syscall.SIGCONT) })
	next := s.awaitLeader(old.pod.Name)
	s.awaitWriteBy(next.pod.Name)

	require.NoError(t, syscall.Kill(process, syscall.SIGCONT))
	s.eventually("the old leader to end", func() error { return gone(process) })
	s.awaitManagers()
	s.requireWorkDone()
	s.requireOnlyLeadersWrote()
}

// leaderAtWork is the leader in the middle of work, alone on its node, and its process.
func (s *space) leaderAtWork() (found leadership, process int) {
	s.Helper()
	s.awaitManagersApart()
	s.work()
	s.eventually("the leader to write", func() (err error) {
		if found, err = leader(s.Context()); err != nil {
			return err
		}
		if process = processOf(found.pod); process == 0 || !s.writers()[found.pod.Name] {
			return fmt.Errorf("%s, which is process %d, has written nothing", found.pod.Name, process)
		}
		return nil
	})
	return found, process
}

// awaitManagersApart waits until the managers are on different nodes.
func (s *space) awaitManagersApart() {
	s.Helper()
	s.eventually("managers on different nodes", func() error {
		if err := managersWork(s.Context()); err != nil {
			return err
		}
		pods, err := managers(s.Context())
		if err != nil {
			return err
		}
		on := map[string]string{}
		for _, pod := range pods {
			if other := on[pod.Spec.NodeName]; other != "" {
				return errors.Join(fmt.Errorf("%s is where %s is", pod.Name, other), crash(s.Context(), &pod))
			}
			on[pod.Spec.NodeName] = pod.Name
		}
		return nil
	})
}

// awaitWriteBy waits until a manager has written something in the namespace.
func (s *space) awaitWriteBy(pod string) {
	s.Helper()
	s.eventually(pod+" to write", func() error {
		if !s.writers()[pod] {
			return errors.New("it has written nothing")
		}
		return nil
	})
}

// gone fails while there is such a process.
func gone(pid int) error {
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("process %d is there (%v)", pid, err)
	}
	return nil
}

// cutOff drops what a node and its pods send to the API server, until heal is called, or the test ends.
func cutOff(t *testing.T, node string) (heal func()) {
	t.Helper()
	first, err := os.ReadFile(filepath.Join(os.Getenv("E2E_CLUSTER"), "nodes", node, "init.pid"))
	require.NoError(t, err)
	rules := func(do string) error {
		for _, chain := range []string{"OUTPUT", "FORWARD"} {
			args := []string{"--target", strings.TrimSpace(string(first)), "--net", "iptables", "--wait", do, chain, "--destination", apiServer, "--jump", "DROP"}
			if out, err := exec.CommandContext(context.Background(), "nsenter", args...).CombinedOutput(); err != nil {
				return fmt.Errorf("nsenter %s: %w\n%s", strings.Join(args, " "), err, out)
			}
		}
		return nil
	}
	require.NoError(t, rules("--insert"))
	healed := false
	heal = func() {
		if !healed {
			healed = true
			require.NoError(t, rules("--delete"))
		}
	}
	t.Cleanup(heal)
	return heal
}
