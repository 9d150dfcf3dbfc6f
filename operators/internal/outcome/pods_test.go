package outcome

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// TestPodsNeverSayOtherwiseThanTheJob lets anything happen in any order, and looks at any past state of the Job beside
// any past state of its pods: if the pods were said to determine success, the Job becomes complete, whatever follows.
func TestPodsNeverSayOtherwiseThanTheJob(t *testing.T) {
	determined := 0
	rapid.Check(t, func(t *rapid.T) {
		completions := rapid.Int32Range(1, 4).Draw(t, "completions")
		spec := batchv1.JobSpec{
			Completions: &completions, Parallelism: new(rapid.Int32Range(1, 3).Draw(t, "parallelism")),
			BackoffLimit: new(rapid.Int32Range(0, 2).Draw(t, "backoffLimit")),
		}
		if rapid.Bool().Draw(t, "indexed") {
			spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		}
		c := newCluster(t, spec)
		claimed := false
		look := func() {
			job := c.jobs[rapid.IntRange(0, len(c.jobs)-1).Draw(t, "job")]
			pods := c.podSets[rapid.IntRange(0, len(c.podSets)-1).Draw(t, "pods")]
			if !claimed && OfPods(job, pods).Phase == Succeeded {
				claimed = true
				determined++
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"sync": func(*rapid.T) { c.sync() },
			"end": func(t *rapid.T) {
				if able := slices.Collect(filter(c.pods, canRun)); len(able) > 0 {
					c.end(rapid.SampledFrom(able).Draw(t, "pod"))
				}
			},
			"evict": func(t *rapid.T) {
				if len(c.pods) > 0 && rapid.IntRange(0, 2).Draw(t, "rarely") == 0 {
					rapid.SampledFrom(c.pods).Draw(t, "pod").DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
					c.happened()
				}
			},
			"suspend": func(t *rapid.T) {
				if rapid.IntRange(0, 2).Draw(t, "rarely") == 0 && !c.finished() {
					c.job.Spec.Suspend = new(!ptr.Deref(c.job.Spec.Suspend, false))
					c.happened()
				}
			},
			"look": func(*rapid.T) { look() },
		})
		c.job.Spec.Suspend = nil
		for range 50 {
			c.sync()
			look()
			for _, pod := range slices.Collect(filter(c.pods, canRun)) {
				c.end(pod)
			}
		}
		require.True(t, c.finished())
		if claimed {
			assert.True(t, c.has(batchv1.JobComplete), "%+v", c.job.Status.Conditions)
		}
	})
	assert.Positive(t, determined)
}

func filter[T any](all []T, keep func(T) bool) func(func(T) bool) {
	return func(yield func(T) bool) {
		for _, x := range all {
			if keep(x) && !yield(x) {
				return
			}
		}
	}
}

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
		"all were counted": {func(j *batchv1.Job) { j.Status.Succeeded = 1 }, one(released), Succeeded},
		"after a retry":    {func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](1) }, []*corev1.Pod{pod(bad), pod()}, Succeeded},
		"another is still terminating": {nil,
			[]*corev1.Pod{pod(deleted, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), pod()}, Running},
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

// A Job whose end is decided isn't run again, although its condition isn't there yet.
func TestIsDecided(t *testing.T) {
	job := func(change ...func(*batchv1.Job)) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job"}}
		for _, f := range change {
			f(j)
		}
		return j
	}
	with := func(kind batchv1.JobConditionType) *batchv1.Job {
		return job(func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue}}
		})
	}
	limited := func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](60) } // its pods don't decide
	pod := func(phase corev1.PodPhase) *corev1.Pod { return &corev1.Pod{Status: corev1.PodStatus{Phase: phase}} }
	succeeded, running := pod(corev1.PodSucceeded), pod(corev1.PodRunning)
	for name, tt := range map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want bool
	}{
		"it waits":                    {job(), nil, false},
		"it runs":                     {job(), []*corev1.Pod{running}, false},
		"its success is known":        {with(batchv1.JobSuccessCriteriaMet), []*corev1.Pod{running}, true},
		"its failure is known":        {with(batchv1.JobFailureTarget), []*corev1.Pod{running}, true},
		"its pods have ended":         {job(limited), []*corev1.Pod{succeeded}, true},
		"one of its pods has ended":   {job(limited), []*corev1.Pod{succeeded, running}, false},
		"its pods have failed":        {job(limited), []*corev1.Pod{pod(corev1.PodFailed)}, false},
		"it was suspended afterwards": {job(limited, func(j *batchv1.Job) { j.Spec.Suspend = new(true) }), []*corev1.Pod{succeeded}, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, ByJob{"job": tt.pods}.IsDecided(tt.job))
		})
	}
}
