package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

func ownsPodsOfJobs(o *operator) { o.Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})) }

// podOf is a pod that a Job controls.
func podOf(job *batchv1.Job, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)},
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func jobWithUID(name string, owner types.UID) *batchv1.Job {
	job := controlled(newJob(name), owner)
	job.UID = types.UID(name + "-uid")
	return job
}

func TestDependents(t *testing.T) {
	a, b, other := jobWithUID("a", ownerUID), jobWithUID("b", ownerUID), jobWithUID("other", "other")
	objs := []client.Object{a, b, other, podOf(b, "b-0"), podOf(a, "a-0"), podOf(a, "a-1"), podOf(other, "other-0")}
	names := func(v builder.View) (names []string) {
		for _, pod := range builder.Owned[*corev1.Pod](v) {
			names = append(names, pod.Name)
		}
		return names
	}
	var pods []string
	plan := func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		pods = names(seen)
		return ownerPlan{}
	}
	s := perform(t, plan, ownsPodsOfJobs, objs...)
	assert.Empty(t, s.passes())
	assert.Equal(t, []string{"a-0", "a-1", "b-0"}, pods)

	direct := controlled(podOf(a, "a-direct"), ownerUID)
	prune := func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
		p := plan(owner, seen)
		p.Prune = []client.Object{&corev1.Pod{}}
		return p
	}
	s = perform(t, prune, func(o *operator) { ownsPodsOfJobs(o); o.Owns(&corev1.Pod{}) }, append(objs, direct)...)
	assert.Equal(t, []string{"delete Pod default/a-direct"}, s.passes(), "grandchildren aren't pruned")
	assert.Equal(t, []string{"a-0", "a-1", "a-direct", "b-0"}, pods, "together with those that are owned")

	s = perform(t, plan, ownsPodsOfJobs, other, podOf(other, "other-0"))
	s.passes()
	assert.Empty(t, pods)
}

func TestDependentsAreOnlyRead(t *testing.T) {
	a := jobWithUID("a", ownerUID)
	for name, act := range map[string]func(p *ownerPlan, pod *corev1.Pod){
		"delete": func(p *ownerPlan, pod *corev1.Pod) { p.Delete = []client.Object{pod} },
		"edit": func(p *ownerPlan, pod *corev1.Pod) {
			p.Edits = []builder.Edit{{Before: pod, After: pod.DeepCopy()}}
		},
		"want": func(p *ownerPlan, pod *corev1.Pod) {
			p.Children = []builder.Child{builder.Want(podOf(&batchv1.Job{}, pod.Name), builder.CreateOnly())}
			p.Children[0].Object().SetOwnerReferences(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			describe := ownsPodsOfJobs
			if name == "want" {
				describe = func(o *operator) { ownsPodsOfJobs(o); o.Owns(&corev1.Pod{}) }
			}
			s := perform(t, func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
				var p ownerPlan
				act(&p, builder.Owned[*corev1.Pod](seen)[0])
				return p
			}, describe, a, podOf(a, "a-0"))
			writes, _, err := s.pass()
			require.ErrorIs(t, err, builder.ErrNotOwned)
			assert.Empty(t, writesThatChanged(writes))
		})
	}
}

func TestDependentsMisused(t *testing.T) {
	for name, describe := range map[string]func(*operator){
		"nil":        func(o *operator) { o.Owns(&batchv1.Job{}, builder.Dependents(nil)) },
		"nil parent": func(o *operator) { o.Owns(nil, builder.Dependents(&corev1.Pod{})) },
	} {
		t.Run(name, func(t *testing.T) {
			c := perform(t, once(newJob("job")), nil).ours
			_, err := buildertest.NewReconciler(describedBy(once(newJob("job")), describe), c, c.Now)
			require.ErrorIs(t, err, builder.ErrMisuse)
			assert.ErrorContains(t, err, "Dependents")
		})
	}
}

func TestCrashEverywhereWithDependents(t *testing.T) {
	s := scenario(func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		a := newJob("a")
		a.Spec.Completions, a.Spec.Parallelism = new(int32(2)), new(int32(2))
		p := ownerPlan{Children: []builder.Child{builder.Want(a, builder.CreateOnly())}}
		for _, pod := range builder.Owned[*corev1.Pod](seen) {
			if pod.Labels[batchv1.JobNameLabel] == "a" {
				p.Children = append(p.Children, builder.Want(newJob("after-"+pod.Name), builder.CreateOnly()))
			}
		}
		return p
	}, ownsPodsOfJobs, newNode("n1"))
	s.Cluster, s.Lag = jobsSucceed, 1
	buildertest.CrashEverywhere(t, s)
}
