//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// managersLease is the one that the managers lead by.
const managersLease = "armature-manager"

// The fault tests don't run in parallel with others: what they break is everyone's. Each leaves behind what it found, and
// waits for it.

// newFault is a space whose test breaks something: it ends when nodes and managers are as they were.
func newFault(t *testing.T) *space {
	t.Helper()
	t.Cleanup(func() {
		within(t, "the managers are back", func() error { return managersWork(context.Background()) })
		for _, node := range nodes {
			within(t, "the node is back", func() error { return nodeReady(context.Background(), node, corev1.ConditionTrue) })
		}
	})
	return newSpace(t)
}

// within is eventually for the end of a test, when its context is over.
func within(t *testing.T, what string, check func() error) {
	t.Helper()
	if err := poll(context.Background(), what, check); err != nil {
		t.Error(err)
	}
}

// managersWork fails unless there are as many managers as there should be, all of them ready, and one of them leads.
func managersWork(ctx context.Context) error {
	deployment := &appsv1.Deployment{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: home, Name: "armature"}, deployment); err != nil {
		return err
	}
	pods, err := managers(ctx)
	if err != nil {
		return err
	}
	if want, ready := int(*deployment.Spec.Replicas), int(deployment.Status.ReadyReplicas); len(pods) != want || ready != want {
		return fmt.Errorf("of %d managers there are %d, and %d are ready", want, len(pods), ready)
	}
	_, err = leader(ctx)
	return err
}

// managers are the pods of the release, also those that are about to go.
func managers(ctx context.Context) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := cluster.List(ctx, pods, client.InNamespace(home), client.MatchingLabels{"app.kubernetes.io/name": "armature"})
	return pods.Items, err
}

// leadership is what the lease says.
type leadership struct {
	pod   *corev1.Pod
	since time.Time
}

// leader is the manager that holds the lease, if it is there and the lease has not run out.
func leader(ctx context.Context) (leadership, error) {
	lease := &coordinationv1.Lease{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: home, Name: managersLease}, lease); err != nil {
		return leadership{}, err
	}
	holder, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
	if lease.Spec.RenewTime == nil || lease.Spec.AcquireTime == nil || lease.Spec.LeaseDurationSeconds == nil ||
		time.Since(lease.Spec.RenewTime.Time) > time.Duration(*lease.Spec.LeaseDurationSeconds)*time.Second {
		return leadership{}, fmt.Errorf("nobody renews the lease, last held by %q", holder)
	}
	pod := &corev1.Pod{}
	err := cluster.Get(ctx, client.ObjectKey{Namespace: home, Name: holder}, pod)
	return leadership{pod, lease.Spec.AcquireTime.Time}, err
}

// awaitLeader waits until someone leads who is none of those.
func (s *space) awaitLeader(not ...string) (found leadership) {
	s.Helper()
	s.eventually("a leader", func() (err error) {
		if found, err = leader(s.Context()); err != nil {
			return err
		}
		for _, name := range not {
			if found.pod.Name == name {
				return fmt.Errorf("it is %s still", name)
			}
		}
		return nil
	})
	return found
}

// awaitManagers waits until all managers are ready and one leads.
func (s *space) awaitManagers() {
	s.Helper()
	s.eventually("the managers", func() error { return managersWork(s.Context()) })
}

// processOf is the PID, on this machine, of a manager's process; 0 if it has none.
func processOf(pod *corev1.Pod) int {
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, name := range names {
		if comm, err := os.ReadFile(name); err != nil || string(comm) != "armature\n" {
			continue
		}
		// The kubelet calls the pod's cgroup after its UID.
		groups, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cgroup"))
		if err != nil || !bytes.Contains(groups, []byte(pod.UID)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			return pid
		}
	}
	return 0
}

// crash kills a manager without a word of farewell, so that it keeps the lease, and lets the Deployment make another pod:
// a container that crashes often would be started again later and later.
func crash(ctx context.Context, pod *corev1.Pod) error {
	if pid := processOf(pod); pid != 0 {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return client.IgnoreNotFound(cluster.Delete(ctx, pod, &client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
}

// scaleManagers says how many managers there should be.
func scaleManagers(t *testing.T, replicas int) {
	t.Helper()
	_, err := kubectl("scale", "--namespace", home, "deployment/armature", "--replicas="+strconv.Itoa(replicas))
	assert.NoError(t, err)
}

// work starts something of each kind.
func (s *space) work() {
	s.Helper()
	_, err := kubectl("apply", "--namespace", s.name, "--filename", "testdata/work.yaml")
	require.NoError(s, err)
	s.removeQueue()
}

// removeQueue deletes the queue of the test's FluxJobs at its end: it is in no namespace.
func (s *space) removeQueue() {
	s.Helper()
	s.Cleanup(func() {
		queue := &v1alpha1.FluxSetup{}
		queue.Name = "faults"
		assert.NoError(s, client.IgnoreNotFound(cluster.Delete(context.Background(), queue)))
	})
}

// requireWorkDone waits for the end of what work started, and fails if anything was made twice or too early.
func (s *space) requireWorkDone() {
	s.Helper()
	s.await("Succeeded", "jobflow/flow")
	s.await("Succeeded", "daemonjob/everywhere")
	s.await("Succeeded", "replicajob/replicas")
	s.await("JobFinished", "fluxjob/queued-1")
	s.await("JobFinished", "fluxjob/queued-2")
	s.requireNothingTwice()
	for _, edge := range [][2]string{{"first", "second"}, {"each-0", "second"}, {"each-1", "second"}, {"each-2", "second"}, {"second", "third"}, {"third", "fourth"}} {
		s.requireOrder("flow-"+edge[0], "flow-"+edge[1])
	}
	for _, job := range []string{"queued-1", "queued-2"} {
		found := &v1alpha1.FluxJob{}
		require.NoError(s, cluster.Get(s.Context(), client.ObjectKey{Namespace: s.name, Name: job}, found))
		finished := meta.FindStatusCondition(found.Status.Conditions, v1alpha1.ConditionJobFinished)
		require.NotNil(s, finished, job)
		assert.Equal(s, v1alpha1.ReasonSucceeded, finished.Reason, job)
	}
}
