//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The parts of the control plane are killed and started again while work is done: one by one, and all at once.
func TestControlPlaneKilled(t *testing.T) {
	s := newFault(t)
	s.work()
	for _, parts := range [][]string{
		{"kube-apiserver"}, {"etcd"}, {"kube-apiserver", "etcd"},
		{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"},
	} {
		var pids []int
		for _, part := range parts {
			pids = append(pids, componentPID(s, part))
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) { // it may have ended by itself
				require.NoError(t, err)
			}
		}
		s.eventually("the API server", func() error {
			return cluster.List(t.Context(), &v1alpha1.JobFlowList{})
		})
	}
	s.requireWorkDone()
}

// componentPID is the PID of a running component of the cluster.
func componentPID(s *space, name string) (pid int) {
	s.Helper()
	s.eventually(name, func() error {
		// It fails when the cluster is not healthy, and prints its state all the same.
		out, _ := exec.Command(os.Getenv("E2E_DEVCLUSTER"), "status", "--dir", os.Getenv("E2E_CLUSTER"), "-o", "json").Output()
		var status struct {
			Components []struct {
				Name, State string
				PID         int
			}
		}
		if err := json.Unmarshal(out, &status); err != nil {
			return err
		}
		for _, c := range status.Components {
			if c.Name == name && c.State == "Running" {
				pid = c.PID
				return nil
			}
		}
		return fmt.Errorf("%s is not running", name)
	})
	return pid
}

// A kubelet that says nothing any more is a node that is lost. A DaemonJob waits for it, and serves it when it is back. A flow
// whose pod is there waits as well: Kubernetes doesn't know whether the pod still runs, and so neither replaces it nor
// calls it failed.
func TestKubeletStopped(t *testing.T) {
	const lost = "node-3"
	s := newFault(t)
	evicted, patient := s.survivor("evicted"), twoSteps(s.name, "patient")
	evicted.Spec.GlobalParams = v1alpha1.GlobalParams{NodeName: lost}
	patient.Spec.GlobalParams = evicted.Spec.GlobalParams
	patient.Spec.Flows[0].JobTemplate.Template = s.gated()
	for _, flow := range []*v1alpha1.JobFlow{evicted, patient} {
		require.NoError(t, cluster.Create(t.Context(), flow))
	}
	for _, job := range []string{"evicted-work", "patient-first"} {
		s.eventually(job+" runs", func() error { return s.runs(job) })
	}
	back := stop(t, lost)
	s.eventually("the node to be lost", func() error { return unreachableNode(t.Context(), lost) })

	require.NoError(t, cluster.Create(t.Context(), &v1alpha1.DaemonJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "all"},
		Spec:       v1alpha1.DaemonJobSpec{Template: shell("hostname")},
	}))
	for _, job := range []string{"all-minikube", "all-node-2"} {
		s.eventually(job, func() error {
			return s.podsOf(job, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
		})
	}
	s.eventually("the pod is told to go", func() error {
		return s.podsOf("evicted-work", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && p.Status.Phase == corev1.PodRunning })
	})
	for _, flow := range []*v1alpha1.JobFlow{evicted, patient} {
		require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(flow), flow))
		assert.Nil(t, flow.Status.CompletionTime, flow.Name)
	}
	s.requireOnce(4)

	s.open()
	back()
	s.eventually("the node to be back", func() error { return nodeReady(t.Context(), lost, corev1.ConditionTrue) })
	s.await("Succeeded", "daemonjob/all")
	s.await("Succeeded", "jobflow/evicted")
	s.await("Succeeded", "jobflow/patient")
	s.requireOnce(7)
	s.requireOrder("evicted-work", "evicted-report")
	s.requireOrder("patient-first", "patient-second")
	require.NoError(t, s.podsOf("patient-first", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded }), "there is still one pod")
}

// survivor is the flow of the recipe for drained nodes, of which the first pod waits for the gate.
func (s *space) survivor(name string) *v1alpha1.JobFlow {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", "jobflow", "drained.yaml"))
	require.NoError(s, err)
	flow := &v1alpha1.JobFlow{}
	require.NoError(s, yaml.UnmarshalStrict(text, flow))
	flow.Namespace, flow.Name = s.name, name
	work := &flow.Spec.Flows[0].JobTemplate.Template.Spec
	tolerations := work.Tolerations
	*work = s.gated().Spec
	work.Tolerations = tolerations
	return flow
}

// podsOf fails unless a Job has one pod, which is so.
func (s *space) podsOf(job string, so func(*corev1.Pod) bool) error {
	pods := &corev1.PodList{}
	if err := cluster.List(s.Context(), pods, client.InNamespace(s.name), client.MatchingLabels{batchv1.JobNameLabel: job}); err != nil {
		return err
	}
	if len(pods.Items) != 1 {
		return fmt.Errorf("Job %s has %d pods", job, len(pods.Items))
	}
	if pod := &pods.Items[0]; !so(pod) {
		return fmt.Errorf("pod %s is %s, deleted at %v", pod.Name, pod.Status.Phase, pod.DeletionTimestamp)
	}
	return nil
}

// runs fails unless a Job's only pod runs.
func (s *space) runs(job string) error {
	return s.podsOf(job, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil })
}
