package outcome

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func TestOfPods(t *testing.T) {
	end := metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	pod := func(change ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u", Finalizers: []string{batchv1.JobTrackingFinalizer}}}
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: end}}}}
		for _, f := range change {
			f(p)
		}
		return p
	}
	one := func(change ...func(*corev1.Pod)) []*corev1.Pod { return []*corev1.Pod{pod(change...)} }
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = &end }
	released := func(p *corev1.Pod) { p.Finalizers = nil }
	bad := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	index := func(i string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: i} }
	}
	indexed := func(j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.Completions = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](2)
	}
	counted := func(n int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism, j.Spec.BackoffLimit = ptr.To[int32](3), ptr.To[int32](2), ptr.To[int32](1)
			j.Status.Succeeded = n
		}
	}

	tests := map[string]struct {
		change func(*batchv1.Job)
		pods   []*corev1.Pod
		want   Phase
	}{
		"the only pod has succeeded":   {nil, one(), Succeeded},
		"no pods":                      {nil, nil, Running},
		"it runs":                      {nil, one(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), Running},
		"it was deleted":               {nil, one(deleted), Running},
		"it may not have been counted": {nil, one(released), Running},
		"it was counted": {func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"u"}}
		},
			one(released), Succeeded},
		"all were counted":  {func(j *batchv1.Job) { j.Status.Succeeded = 1 }, one(released), Succeeded},
		"after a retry":     {func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](1) }, []*corev1.Pod{pod(bad), pod()}, Succeeded},
		"too many failures": {nil, []*corev1.Pod{pod(bad), pod()}, Running},
		"one is missing":    {func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](2) }, one(), Running},
		"two of two":        {func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](2) }, []*corev1.Pod{pod(), pod()}, Succeeded},
		"an index twice":    {indexed, []*corev1.Pod{pod(index("0")), pod(index("0"))}, Running},
		"an index of an earlier wave": {func(j *batchv1.Job) {
			indexed(j)
			j.Status.CompletedIndexes = "1"
		}, []*corev1.Pod{pod(index("0")), pod(index("1"), released)}, Succeeded},
		"an index on record whose pod is gone": {func(j *batchv1.Job) {
			indexed(j)
			j.Status.CompletedIndexes = "0"
		}, []*corev1.Pod{pod(index("1"))}, Succeeded},
		"a second wave":                  {counted(2), []*corev1.Pod{pod(released), pod(released), pod()}, Succeeded},
		"a second wave, the pods behind": {counted(2), []*corev1.Pod{pod(released), pod(), pod(bad)}, Running},
		"a second wave, the Job behind":  {counted(1), []*corev1.Pod{pod(released), pod(released), pod()}, Running},
		"a second wave of one that was suspended": {func(j *batchv1.Job) {
			counted(2)(j)
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse}}
		}, []*corev1.Pod{pod(released), pod(released), pod()}, Running},
		"each index":                {indexed, []*corev1.Pod{pod(index("0")), pod(index("1"))}, Succeeded},
		"an index that isn't one":   {indexed, []*corev1.Pod{pod(index("0")), pod(index("2")), pod()}, Running},
		"no completions are wanted": {func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](0) }, one(), Running},
		"a work queue":              {func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = nil, ptr.To[int32](2) }, one(), Running},
		"a deadline":                {func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](9) }, one(), Running},
		"a pod failure policy":      {func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{} }, one(), Running},
		"a success policy":          {func(j *batchv1.Job) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{} }, one(), Running},
		"a limit per index":         {func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = ptr.To[int32](1) }, one(), Running},
		"someone else's":            {func(j *batchv1.Job) { j.Spec.ManagedBy = new("example.com/x") }, one(), Running},
		"about to be deleted":       {func(j *batchv1.Job) { j.DeletionTimestamp = &end }, one(), Running},
		"about to fail": {func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
		}, one(), Running},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{Spec: batchv1.JobSpec{BackoffLimit: ptr.To[int32](0)}}
			if tt.change != nil {
				tt.change(job)
			}
			want := Outcome{Phase: tt.want}
			if tt.want == Succeeded {
				want.Ended = &end
			}
			assert.Equal(t, want, OfPods(job, tt.pods))
		})
	}
}
