package conformance

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// perIndex makes a Job's indexes independent of each other, all active at once.
func perIndex(o *batchv1.JobSpec, limit, completions int32) {
	o.CompletionMode, o.BackoffLimitPerIndex = ptr.To(batchv1.IndexedCompletion), &limit
	o.Completions, o.Parallelism = &completions, &completions
}

// failsAtFirst returns a container that exits with a code in the first pod of index 0, and with 0 in all others. The annotation counts
// the index's failures.
func (s *session) failsAtFirst(job string, code int, annotation string) corev1.Container {
	c := s.runs(job+"-0-1", code)
	c.Env = []corev1.EnvVar{{Name: "FAILURES", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.annotations['%s']", annotation)},
	}}}
	c.Command[2] = fmt.Sprintf(`sleep 1; [ "$JOB_COMPLETION_INDEX ${FAILURES:-0}" = "0 0" ] && exit %d; exit 0`, code)
	return c
}

// failsIn returns a container that exits with a code in the pods of an index, and with 0 in all others.
func (s *session) failsIn(job string, index, code int) corev1.Container {
	c := s.runs(fmt.Sprintf("%s-%d-*", job, index), code)
	c.Command[2] = fmt.Sprintf("sleep 1; [ $JOB_COMPLETION_INDEX = %d ] && exit %d; exit 0", index, code)
	return c
}

// onExitCode42 is the policy for pods that exit with 42.
func onExitCode42(action batchv1.PodFailurePolicyAction) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
		},
	}}}
}

// jobBackoffLimitPerIndex runs its Jobs beside each other, because each waits for the backoff of an index.
func jobBackoffLimitPerIndex(s *session) {
	again := s.batchJob("again", 0, func(o *batchv1.JobSpec) {
		perIndex(o, 1, 2)
		o.Template.Spec.Containers[0] = s.failsAtFirst("again", 3, batchv1.JobIndexFailureCountAnnotation)
	})
	exhausted := s.batchJob("exhausted", 0, func(o *batchv1.JobSpec) {
		perIndex(o, 1, 3)
		o.Template.Spec.Containers[0] = s.failsIn("exhausted", 1, 3)
	})
	ignored := s.batchJob("ignored", 0, func(o *batchv1.JobSpec) {
		perIndex(o, 0, 2)
		o.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionIgnore)
		o.Template.Spec.Containers[0] = s.failsAtFirst("ignored", 42, batchv1.JobIndexIgnoredFailureCountAnnotation)
	})
	waits := func(o *batchv1.Job) bool { // The Job controller releases the pod that succeeded after it has counted its index.
		isHeld := func(pod string) bool {
			return strings.HasPrefix(pod, "Succeeded") && strings.HasSuffix(pod, batchv1.JobTrackingFinalizer)
		}
		return o.Status.CompletedIndexes != "" && o.Status.Active == 0 && !slices.ContainsFunc(s.podsOf(o), isHeld)
	}
	s.showJob("the failed pod isn't counted before its index runs again", awaits(s, "the backoff", again, waits))
	s.showJob("an index succeeds at the second try", awaits(s, "the end", again, hasEnded))
	s.showJob("an index exhausts its limit, the others succeed", awaits(s, "the end", exhausted, hasEnded))
	s.showJob("an ignored failure doesn't count against the limit", awaits(s, "the end", ignored, hasEnded))
}

func jobMaxFailedIndexes(s *session) {
	s.runs("too-many-2-*", -1)
	job := s.batchJob("too-many", -1, func(o *batchv1.JobSpec) {
		perIndex(o, 0, 3)
		o.MaxFailedIndexes = new(int32(1))
		o.Template.Spec.Containers[0] = s.runs("too-many-[01]-*", 3)
		o.Template.Spec.Containers[0].Command[2] = "sleep 1; [ $JOB_COMPLETION_INDEX = 2 ] && exec sleep 3600; exit 3"
	})
	s.showJob("the other index is stopped", awaits(s, "the end", job, hasEnded))
}

func jobFailIndex(s *session) {
	job := s.batchJob("fail-index", 0, func(o *batchv1.JobSpec) {
		perIndex(o, 3, 2)
		o.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionFailIndex)
		o.Template.Spec.Containers[0] = s.failsIn("fail-index", 0, 42)
	})
	s.showJob("the index fails at once", awaits(s, "the end", job, hasEnded))
}
