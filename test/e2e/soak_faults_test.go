//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/test/e2e/soakplan"
)

// harm brings about a fault. One that finds the API server away or nothing to hit doesn't happen.
func (s *soak) harm(step soakplan.Step) {
	s.Helper()
	switch step.Action {
	case soakplan.KillManager:
		pods := &corev1.PodList{}
		if cluster.List(s.Context(), pods, client.InNamespace(home), client.MatchingLabels{"app.kubernetes.io/name": "armature"}) == nil {
			if pod := pick(pods.Items, step.Pick); pod != nil {
				_ = cluster.Delete(s.Context(), pod, client.GracePeriodSeconds(0))
			}
		}
	case soakplan.KillComponent:
		_ = syscall.Kill(componentPID(s.space, step.Target), syscall.SIGKILL) // it may have ended by itself
	case soakplan.FreezeKubelet:
		kubelet := kubeletOf(s.T, step.Target)
		s.lasts(step, func(context.Context) { require.NoError(s, syscall.Kill(kubelet, syscall.SIGSTOP)) },
			func() { require.NoError(s, syscall.Kill(kubelet, syscall.SIGCONT)) })
	case soakplan.Cordon:
		s.lasts(step, func(context.Context) { _, _ = kubectl("cordon", step.Target) }, func() { s.uncordon(step.Target) })
	case soakplan.Drain:
		s.lasts(step, func(context.Context) {
			_, _ = kubectl("drain", step.Target, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--grace-period=1",
				"--timeout="+step.For.String(), "--pod-selector=!"+soakplan.LabelOutput)
		}, func() { s.uncordon(step.Target) })
	case soakplan.DeletePod:
		s.deletePod(step.Pick)
	case soakplan.DeleteJob:
		s.deleteJob(step.Pick)
	}
}

// lasts begins a fault, and ends it some time later, while the script goes on. It is ended in any case.
func (s *soak) lasts(step soakplan.Step, begin func(context.Context), end func()) {
	s.lasting.Add(1)
	ended := make(chan struct{})
	s.Cleanup(func() { <-ended })
	go func() {
		defer s.lasting.Done()
		defer close(ended)
		over := time.After(step.For)
		begin(s.Context())
		select {
		case <-s.Context().Done():
		case <-over:
		}
		end()
	}()
}

func (s *soak) uncordon(node string) {
	within(s.T, "node "+node+" to be uncordoned", func() error {
		_, err := kubectl("uncordon", node)
		return err
	})
}

// deletePod deletes a pod that runs, as a user does by hand, but none whose output is needed.
func (s *soak) deletePod(number uint64) {
	pods := &corev1.PodList{}
	if cluster.List(s.Context(), pods, client.InNamespace(s.name)) != nil {
		return
	}
	running := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool {
		return pod.Labels[soakplan.LabelOutput] != "" || pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending
	})
	if pod := pick(running, number); pod != nil {
		s.Log("pod", pod.Name)
		_ = cluster.Delete(s.Context(), pod, &client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](1)})
	}
}

// deleteJob deletes a Job, whether it runs or has ended.
func (s *soak) deleteJob(number uint64) {
	jobs := &batchv1.JobList{}
	if cluster.List(s.Context(), jobs, client.InNamespace(s.name)) != nil {
		return
	}
	if job := pick(jobs.Items, number); job != nil {
		s.Log("Job", job.Name)
		s.deletedJobs[job.Name]++ // it may be gone even if the answer is lost
		_ = cluster.Delete(s.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
}

// pick chooses one by a number, whatever order the list came in.
func pick[T any, P interface {
	*T
	client.Object
}](from []T, number uint64) *T {
	if len(from) == 0 {
		return nil
	}
	slices.SortFunc(from, func(a, b T) int { return strings.Compare(P(&a).GetName(), P(&b).GetName()) })
	return &from[number%uint64(len(from))]
}
