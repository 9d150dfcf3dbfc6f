package conformance

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Nodes are the nodes of a Target of [ControllerCases]. They run containers.
var Nodes = []string{"minikube", "node-2", "node-3"}

// ControllerCases returns the cases of controllers, the scheduler and kubelets, which package world imitates. They run one by one,
// because they change nodes. A Target needs [Nodes], and a simulated one needs Script.
func ControllerCases() []Case {
	return []Case{
		{"job-success", jobSuccess},
		{"job-backoff-limit", jobBackoffLimit},
		{"job-restart-on-failure", jobRestartOnFailure},
		{"job-indexed", jobIndexed},
		{"job-backoff-limit-per-index", jobBackoffLimitPerIndex},
		{"job-max-failed-indexes", jobMaxFailedIndexes},
		{"job-fail-index", jobFailIndex},
		{"job-success-policy", jobSuccessPolicy},
		{"job-pod-failure-policy", jobPodFailurePolicy},
		{"job-suspend", jobSuspend},
		{"job-deadline", jobDeadline},
		{"job-ttl", jobTTL},
		{"job-deletion", jobDeletion},
		{"job-pod-replacement", jobPodReplacement},
		{"job-quota", jobQuota},
		{"deployment-readiness", deploymentReadiness},
		{"deployment-roll-over", deploymentRollOver},
		{"deployment-paused", deploymentPaused},
		{"deployment-quota", deploymentQuota},
		{"statefulset-order", statefulSetOrder},
		{"statefulset-forced-rollback", statefulSetForcedRollback},
		{"daemonset-nodes", daemonSetNodes},
		{"workload-adoption", workloadAdoption},
		{"workload-names", workloadNames},
		{"workload-batches", workloadBatches},
		{"daemonset-adoption", daemonSetAdoption},
		{"scheduler-nodes", schedulerNodes},
		{"pod-references", podReferences},
		{"pod-quota", podQuota},
	}
}

// runs returns a container that sleeps for a second and exits with a code; a negative code runs until it is stopped. A simulated
// cluster learns the same of the pods of a name.
func (s *session) runs(pods string, code int) corev1.Container {
	if s.target.Script != nil {
		s.target.Script(pods, code)
	}
	command := fmt.Sprintf("sleep 1; exit %d", code)
	if code < 0 {
		command = "exec sleep 3600"
	}
	return corev1.Container{Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", command}}
}

// batchJob returns a Job whose containers run as runs says.
func (s *session) batchJob(name string, code int, change func(*batchv1.JobSpec)) *batchv1.Job {
	o := &batchv1.Job{ObjectMeta: meta(name), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{s.runs(name+"-*", code)},
	}}}}
	if change != nil {
		change(&o.Spec)
	}
	return s.given(o).(*batchv1.Job)
}

// awaits waits until an object is as it should be, and fails the case if it never is.
func awaits[T client.Object](s *session, what string, obj T, done func(T) bool) T {
	s.t.Helper()
	now := obj.DeepCopyObject().(T)
	reached := s.target.Await(func() bool {
		err := s.client.Get(s.ctx, client.ObjectKeyFromObject(obj), now)
		return err == nil && done(now)
	})
	if !reached {
		s.t.Fatalf("%T %s: %s isn't reached; its pods are %v; it is\n%+v", obj, obj.GetName(), what, s.podsOf(obj), now)
	}
	return now
}

// podsOf returns what the pods of an owner do, sorted: index, phase, exit code, and whether they terminate.
func (s *session) podsOf(owner client.Object) []string {
	var pods corev1.PodList
	if err := s.client.List(s.ctx, &pods, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for i := range pods.Items {
		pod := &pods.Items[i]
		if len(pod.OwnerReferences) == 0 || pod.OwnerReferences[0].UID != owner.GetUID() {
			continue
		}
		words := []string{string(pod.Status.Phase)}
		if index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]; index != "" {
			words = append(words, "index "+index, "host "+pod.Spec.Hostname)
		}
		if n := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]; n != "" {
			words = append(words, "failures before "+n)
		}
		if n := pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation]; n != "" {
			words = append(words, "ignored "+n)
		}
		for _, c := range pod.Status.ContainerStatuses {
			if c.State.Terminated != nil {
				words = append(words, fmt.Sprintf("exit code %d (%s)", c.State.Terminated.ExitCode, c.State.Terminated.Reason))
			}
		}
		if pod.DeletionTimestamp != nil {
			words = append(words, "terminating")
		}
		if len(pod.Finalizers) > 0 {
			words = append(words, strings.Join(pod.Finalizers, " "))
		}
		all = append(all, strings.Join(words, ", "))
	}
	slices.Sort(all)
	return all
}

// goesWithPods waits until an owner's pods are gone, and records whether they are.
func (s *session) goesWithPods(name string, owner client.Object) {
	s.note(name, s.target.Await(func() bool { return !s.exists(owner) && len(s.podsOf(owner)) == 0 }))
}
