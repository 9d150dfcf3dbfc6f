package outcome

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// life is a Job in a simulated cluster. Observers may look at any past state of the Job and of its pods.
type life struct {
	*world.World
	t      *rapid.T
	others client.Client
	jobs   []*batchv1.Job
	pods   [][]*corev1.Pod
}

func newLife(t *rapid.T, spec batchv1.JobSpec) *life {
	spec.Template.Spec = corev1.PodSpec{
		NodeName: "n1", RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
	}
	server := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(world.Node("n1")))
	l := &life{World: world.New(server, world.Options{}), t: t, others: server.Client("others")}
	require.NoError(t, l.others.Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"}, Spec: spec}))
	l.happened()
	return l
}

// happened keeps the present state.
func (l *life) happened() {
	var pods []*corev1.Pod
	for _, obj := range l.Server().Stored() {
		switch obj := obj.(type) {
		case *batchv1.Job:
			l.jobs = append(l.jobs, obj)
		case *corev1.Pod:
			pods = append(pods, obj)
		}
	}
	l.pods = append(l.pods, pods)
}

func (l *life) job() *batchv1.Job { return l.jobs[len(l.jobs)-1] }

// present returns the pods for which a function returns true.
func (l *life) present(keep func(*corev1.Pod) bool) (pods []*corev1.Pod) {
	for _, pod := range l.pods[len(l.pods)-1] {
		if keep(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// step runs one possible step of the cluster, and reports whether there is one.
func (l *life) step() bool {
	steps, err := l.Steps()
	require.NoError(l.t, err)
	if len(steps) == 0 {
		return false
	}
	require.NoError(l.t, steps[rapid.IntRange(0, len(steps)-1).Draw(l.t, "step")].Run(l.t.Context()))
	l.happened()
	return true
}

func canRun(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning
}

// end lets a pod end, also one that is being deleted.
func (l *life) end(pod *corev1.Pod) {
	pod = pod.DeepCopy()
	pod.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodSucceeded, corev1.PodFailed}).Draw(l.t, "phase")
	require.NoError(l.t, l.others.Status().Update(l.t.Context(), pod))
	l.happened()
}

func (l *life) suspend(suspended bool) {
	job := l.job().DeepCopy()
	job.Spec.Suspend = &suspended
	require.NoError(l.t, l.others.Update(l.t.Context(), job))
	l.happened()
}

func (l *life) hasEnded() bool {
	return Condition(l.job(), batchv1.JobComplete) != nil || Condition(l.job(), batchv1.JobFailed) != nil
}

// TestPodsNeverSayOtherwiseThanTheJob lets anything happen in any order, and looks at any past state of the Job beside any past state of
// its pods: if the pods were said to determine success, the Job becomes complete, whatever follows.
func TestPodsNeverSayOtherwiseThanTheJob(t *testing.T) {
	determined := 0
	rapid.Check(t, func(t *rapid.T) {
		spec := batchv1.JobSpec{
			Completions:  new(rapid.Int32Range(1, 4).Draw(t, "completions")),
			Parallelism:  new(rapid.Int32Range(1, 3).Draw(t, "parallelism")),
			BackoffLimit: new(rapid.Int32Range(0, 2).Draw(t, "backoffLimit")),
		}
		if rapid.Bool().Draw(t, "indexed") {
			spec.CompletionMode = new(batchv1.IndexedCompletion)
		}
		l := newLife(t, spec)
		claimed := false
		look := func() {
			if !claimed && OfPods(rapid.SampledFrom(l.jobs).Draw(t, "job"), rapid.SampledFrom(l.pods).Draw(t, "pods")).Phase == Succeeded {
				claimed = true
				determined++
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"steps": func(t *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(t, "steps") {
					l.step()
				}
			},
			"end": func(t *rapid.T) {
				if able := l.present(canRun); len(able) > 0 {
					l.end(rapid.SampledFrom(able).Draw(t, "pod"))
				}
			},
			"evict": func(t *rapid.T) {
				pods := l.present(func(*corev1.Pod) bool { return true })
				if len(pods) > 0 && rapid.IntRange(0, 2).Draw(t, "rarely") == 0 {
					require.NoError(t, l.others.Delete(t.Context(), rapid.SampledFrom(pods).Draw(t, "pod")))
					l.happened()
				}
			},
			"suspend": func(t *rapid.T) {
				if rapid.IntRange(0, 2).Draw(t, "rarely") == 0 && !l.hasEnded() {
					l.suspend(!ptr.Deref(l.job().Spec.Suspend, false))
				}
			},
			"time passes": func(*rapid.T) { l.Server().Clock().Step(10 * time.Second) },
			"look":        func(*rapid.T) { look() },
		})
		l.suspend(false)
		for range 20 {
			for l.step() {
				look()
			}
			for _, pod := range l.present(canRun) {
				l.end(pod)
			}
			l.Server().Clock().Step(10 * time.Minute) // the longest backoff
		}
		require.True(t, l.hasEnded())
		if claimed {
			assert.NotNil(t, Condition(l.job(), batchv1.JobComplete), "%+v", l.job().Status.Conditions)
		}
	})
	assert.Positive(t, determined)
}
