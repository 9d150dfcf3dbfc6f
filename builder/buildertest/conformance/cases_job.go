package conformance

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// showJob records the status of a Job, and its pods.
func (s *session) showJob(name string, job *batchv1.Job) {
	st := &job.Status
	var conditions []string
	for _, c := range st.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, s.withoutPodNames(c.Message)))
	}
	shown := map[string]any{
		"active": st.Active, "ready": ptr.Deref(st.Ready, -1), "terminating": ptr.Deref(st.Terminating, -1),
		"succeeded": st.Succeeded, "failed": st.Failed, "completedIndexes": st.CompletedIndexes,
		"uncounted": len(st.UncountedTerminatedPods.Succeeded) + len(st.UncountedTerminatedPods.Failed),
		"started":   st.StartTime != nil, "completed": st.CompletionTime != nil,
		"conditions": conditions, "pods": s.podsOf(job),
	}
	if st.FailedIndexes != nil {
		shown["failedIndexes"] = *st.FailedIndexes
	}
	s.note(name, shown)
}

// withoutPodNames replaces the suffix of pods' names, which is random in a real cluster.
func (s *session) withoutPodNames(message string) string {
	var pods corev1.PodList
	if err := s.client.List(s.ctx, &pods, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	for i := range pods.Items {
		name := pods.Items[i].Name
		message = strings.ReplaceAll(message, name, name[:strings.LastIndex(name, "-")]+"-(suffix)")
	}
	return message
}

func hasEnded(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

func runsOne(job *batchv1.Job) bool {
	return job.Status.Active == 1 && ptr.Deref(job.Status.Ready, 0) == 1
}

func jobSuccess(s *session) {
	job := s.batchJob("success", 0, func(o *batchv1.JobSpec) { o.Completions = new(int32(2)) })
	s.showJob("two completions, one after the other", awaits(s, "the end", job, hasEnded))
	job = s.batchJob("work-queue", 0, func(o *batchv1.JobSpec) { o.Parallelism = new(int32(2)) })
	s.showJob("two pods without completions", awaits(s, "the end", job, hasEnded))
}

func jobBackoffLimit(s *session) {
	job := s.batchJob("fails", 3, func(o *batchv1.JobSpec) { o.BackoffLimit = new(int32(1)) })
	s.showJob("one retry", awaits(s, "the end", job, hasEnded))
	job = s.batchJob("fails-with-others", 3, func(o *batchv1.JobSpec) {
		o.BackoffLimit, o.Parallelism, o.Completions = new(int32(0)), new(int32(2)), new(int32(2))
		o.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		o.Template.Spec.Containers[0] = s.runs("fails-with-others-0-*", 3)
		o.Template.Spec.Containers[0].Command[2] = "sleep 1; [ $JOB_COMPLETION_INDEX = 0 ] && exit 3; exec sleep 3600"
		s.runs("fails-with-others-1-*", -1)
	})
	s.showJob("the other pod is stopped", awaits(s, "the end", job, hasEnded))
}

func jobRestartOnFailure(s *session) {
	job := s.batchJob("restarts", 3, func(o *batchv1.JobSpec) {
		o.BackoffLimit = new(int32(1))
		o.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	})
	job = awaits(s, "the end", job, hasEnded)
	job.Status.Failed = 0 // it depends on when the pod is deleted
	s.showJob("containers restart", job)
}

func jobIndexed(s *session) {
	job := s.batchJob("indexed", 0, func(o *batchv1.JobSpec) {
		o.Completions, o.Parallelism, o.CompletionMode = new(int32(3)), new(int32(2)), ptr.To(batchv1.IndexedCompletion)
	})
	s.showJob("three indexes", awaits(s, "the end", job, hasEnded))
}

func jobSuccessPolicy(s *session) {
	s.runs("leader-[12]-*", -1)
	job := s.batchJob("leader", -1, func(o *batchv1.JobSpec) {
		o.Completions, o.Parallelism, o.CompletionMode = new(int32(3)), new(int32(3)), ptr.To(batchv1.IndexedCompletion)
		o.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("0")}}}
		o.Template.Spec.Containers[0] = s.runs("leader-0-*", 0)
		o.Template.Spec.Containers[0].Command[2] = "sleep 3; [ $JOB_COMPLETION_INDEX = 0 ] && exit 0; exec sleep 3600"
	})
	s.showJob("the leader succeeds", awaits(s, "the end", job, hasEnded))
}

func jobPodFailurePolicy(s *session) {
	job := s.batchJob("fail-job", 42, func(o *batchv1.JobSpec) { o.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionFailJob) })
	s.showJob("FailJob", awaits(s, "the end", job, hasEnded))
	job = s.batchJob("ignore", 42, func(o *batchv1.JobSpec) {
		o.PodFailurePolicy, o.BackoffLimit = onExitCode42(batchv1.PodFailurePolicyActionIgnore), new(int32(0))
	})
	awaits(s, "a second pod", job, func(o *batchv1.Job) bool { return len(s.podsOf(o)) > 1 })
	job = awaits(s, "no counted failure", job, func(o *batchv1.Job) bool { return o.Status.Failed == 0 })
	s.note("Ignore has ended", hasEnded(job))
}

func jobSuspend(s *session) {
	job := s.batchJob("suspended", -1, func(o *batchv1.JobSpec) { o.Suspend = new(true) })
	isSuspended := func(is corev1.ConditionStatus) func(*batchv1.Job) bool {
		return func(o *batchv1.Job) bool {
			return slices.ContainsFunc(o.Status.Conditions, func(c batchv1.JobCondition) bool {
				return c.Type == batchv1.JobSuspended && c.Status == is
			})
		}
	}
	s.showJob("from the start", awaits(s, "Suspended", job, isSuspended(corev1.ConditionTrue)))
	s.suspend(job, false)
	s.showJob("resumed", awaits(s, "a running pod", job, runsOne))
	s.suspend(job, true)
	awaits(s, "no pods", job, func(o *batchv1.Job) bool { return len(s.podsOf(o)) == 0 })
	s.showJob("suspended again", awaits(s, "Suspended", job, func(o *batchv1.Job) bool {
		return isSuspended(corev1.ConditionTrue)(o) && o.Status.Active == 0 && ptr.Deref(o.Status.Terminating, 0) == 0
	}))
}

func (s *session) suspend(job *batchv1.Job, is bool) {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, is))
	if err := s.client.Patch(s.ctx, job.DeepCopy(), patch); err != nil {
		s.t.Fatal(err)
	}
}

func jobDeadline(s *session) {
	job := s.batchJob("deadline", -1, func(o *batchv1.JobSpec) { o.ActiveDeadlineSeconds = ptr.To[int64](2) })
	s.showJob("after two seconds", awaits(s, "the end", job, hasEnded))
}

func jobTTL(s *session) {
	job := s.batchJob("ttl", 0, func(o *batchv1.JobSpec) { o.TTLSecondsAfterFinished = new(int32(1)) })
	s.goesWithPods("it goes after its end", job)
}

func jobDeletion(s *session) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		name := strings.ToLower(string(policy))
		job := s.batchJob(name, -1, nil)
		awaits(s, "a running pod", job, runsOne)
		s.delete(name, job, client.PropagationPolicy(policy))
		s.goesWithPods("goes with its pods", job)
	}
	job := s.batchJob("orphan", -1, func(o *batchv1.JobSpec) { o.Template.Labels = map[string]string{"of": "orphan"} })
	awaits(s, "a running pod", job, runsOne)
	s.delete("orphan", job, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	s.goes("goes", job)
	s.note("its pod loses the owner and the finalizer", s.target.Await(func() bool {
		var pods corev1.PodList
		if err := s.client.List(s.ctx, &pods, client.InNamespace(s.namespace), client.MatchingLabels{"of": "orphan"}); err != nil {
			s.t.Fatal(err)
		}
		return len(pods.Items) == 1 && len(pods.Items[0].OwnerReferences)+len(pods.Items[0].Finalizers) == 0
	}))
}

func jobPodReplacement(s *session) {
	for _, policy := range []batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed} {
		job := s.batchJob(strings.ToLower(string(policy)), -1, func(o *batchv1.JobSpec) { o.PodReplacementPolicy = &policy })
		awaits(s, "a running pod", job, runsOne)
		s.deletePodsOf(job)
		s.showJob(string(policy), awaits(s, "another running pod", job, func(o *batchv1.Job) bool {
			return runsOne(o) && o.Status.Failed == 1 && ptr.Deref(o.Status.Terminating, 0) == 0
		}))
	}
}

// jobQuota lets one pod at a time run. Another client's pod is refused.
func jobQuota(s *session) {
	s.quota("one-pod", corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")})
	job := s.batchJob("limited", 0, func(o *batchv1.JobSpec) {
		o.Completions, o.Parallelism = new(int32(2)), new(int32(2))
		// Long enough for a slow test to try the other pod meanwhile. Once that is admitted, the Job never gets its second pod.
		o.Template.Spec.Containers[0].Command = []string{"sh", "-c", "sleep 5"}
	})
	awaits(s, "a running pod", job, runsOne)
	other := pod("other")
	s.create("another pod", other)
	s.showJob("one after the other", awaits(s, "the end", job, hasEnded))
}

func (s *session) deletePodsOf(owner client.Object) {
	var pods corev1.PodList
	if err := s.client.List(s.ctx, &pods, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; len(pod.OwnerReferences) > 0 && pod.OwnerReferences[0].UID == owner.GetUID() {
			if err := s.client.Delete(s.ctx, pod); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}
