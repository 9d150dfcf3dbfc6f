package buildertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// Of two Jobs under a quota of one pod, either may be the first, though the Job controller lists one before the other.
func TestExploreTriesBothOrdersOfPodsUnderAQuota(t *testing.T) {
	s := by(func(context.Context, *buildertest.Client, *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	for _, name := range []string{"a", "b"} {
		job := jobOf(configMap("owner"), name)
		job.OwnerReferences = nil
		s.Objects = append(s.Objects, job)
	}
	s.Objects = append(s.Objects, world.Node("n1"), quotaOf("one-pod", "pods", "1"))
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	second := errors.New("the second Job has a pod, and the first has none")
	s.Invariants = []buildertest.Invariant{func(ctx context.Context, c client.Reader) error {
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if strings.HasPrefix(pod.Name, "a-") {
				return nil
			}
		}
		if len(pods.Items) > 0 {
			return second
		}
		return nil
	}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, second)
}

// besides returns a Job, which an invariant reads, beside objects that nothing reads.
func besides(holds func(*batchv1.Job) error, pods func(*corev1.Pod) world.Script, objects ...client.Object) buildertest.Scenario {
	s := by(func(context.Context, *buildertest.Client, *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	job := jobOf(configMap("owner"), "job")
	job.OwnerReferences = nil
	s.Objects = append(append(s.Objects, world.Node("n1"), job), objects...)
	s.Cluster = world.Cluster(world.Options{Pods: pods})
	s.Invariants = []buildertest.Invariant{func(ctx context.Context, c client.Reader) error {
		found := &batchv1.Job{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), found); err != nil {
			return err
		}
		return holds(found)
	}}
	return s
}

func always(*batchv1.Job) error { return nil }

// aReplicaSet has one pod that runs until it is deleted.
func aReplicaSet() *appsv1.ReplicaSet {
	template := deployment("set", "i").Spec
	return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "set"}, Spec: appsv1.ReplicaSetSpec{
		Selector: template.Selector, Template: template.Template,
	}}
}

var (
	errHasAPod = errors.New("the Job has a pod")
	errHasNone = errors.New("the Job has started, and has no pod")
)

func hasNoPod(job *batchv1.Job) error {
	if job.Status.Active > 0 {
		return errHasAPod
	}
	return nil
}

func startsWithAPod(job *batchv1.Job) error {
	if job.Status.StartTime != nil && job.Status.Active == 0 && len(job.Status.Conditions) == 0 {
		return errHasNone
	}
	return nil
}

// The ReplicaSet's pod may come second, though nothing reads it.
func TestExploreLetsAPodThatNothingReadsComeSecondUnderAQuota(t *testing.T) {
	s := besides(hasNoPod, nil, aReplicaSet(), quotaOf("one-pod", "pods", "1"))
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, errHasAPod)
}

// A quota for a Job of two CPUs is full once the smaller pods have come, though they alone don't exceed it.
func TestExploreKnowsThatALargerPodMayBeRefused(t *testing.T) {
	set := aReplicaSet()
	set.Spec.Template.Spec.Containers[0].Resources.Requests = amounts("cpu", "1")
	s := besides(hasNoPod, nil, set, quotaOf("cpus", "cpu", "2"))
	s.Objects[2].(*batchv1.Job).Spec.Template.Spec.Containers[0].Resources.Requests = amounts("cpu", "2")
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, errHasAPod)
}

// What takes pods from a quota may come after the Job controller's attempt, though nothing reads those pods.
func TestExploreLetsPodsEndLaterUnderAQuota(t *testing.T) {
	running := podWith("other", containerOf("main", nil, nil))
	running.Spec.NodeName, running.Spec.RestartPolicy = "n1", corev1.RestartPolicyNever
	lost := running.DeepCopy()
	lost.Spec.NodeName = "gone"
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "account", UID: "account"}}
	child := running.DeepCopy()
	child.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ServiceAccount"))}
	ends := func(pod *corev1.Pod) world.Script { return world.Script{Ends: pod.Name == "other"} }
	deletesPod := world.Func("a-controller", func(s *world.State) (changes []world.Change) {
		for _, pod := range world.All[*corev1.Pod](s) {
			if pod.Name == "other" {
				changes = append(changes, world.Change{
					Verb: world.VerbDelete, Object: pod, Options: []client.DeleteOption{client.GracePeriodSeconds(0)},
				})
			}
		}
		return changes
	})
	deletesOwner := world.Func("a-controller", func(s *world.State) (changes []world.Change) {
		for _, account := range world.All[*corev1.ServiceAccount](s) {
			changes = append(changes, world.Change{Verb: world.VerbDelete, Object: account})
		}
		return changes
	})
	for name, tt := range map[string]struct {
		options world.Options
		objects []client.Object
	}{
		"the kubelet ends one":              {world.Options{Pods: ends}, []client.Object{running}},
		"the pod collector ends one":        {world.Options{}, []client.Object{lost}},
		"a controller deletes one":          {world.Options{Controllers: []world.Controller{deletesPod}}, []client.Object{running}},
		"the garbage collector deletes one": {world.Options{Controllers: []world.Controller{deletesOwner}}, []client.Object{owner, child}},
	} {
		t.Run(name, func(t *testing.T) {
			s := besides(startsWithAPod, nil, append(tt.objects, quotaOf("one-pod", "pods", "1"))...)
			s.Cluster = world.Cluster(tt.options)
			_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
			require.ErrorIs(t, err, errHasNone)
		})
	}
}

// A quota with room for all pods of a run and one more refuses none, so no order of theirs shows.
func TestAnAmpleQuotaAddsNoStates(t *testing.T) {
	set := aReplicaSet()
	set.Spec.Replicas = new(int32(3))
	explored := func(quota ...client.Object) buildertest.Report {
		report := buildertest.Explore(t, besides(always, world.JobsSucceed, append(quota, set)...), buildertest.Bounds{})
		require.True(t, report.Exhausted)
		return report
	}
	without := explored()
	assert.Equal(t, without.States, explored(quotaOf("ample", "pods", "5")).States)
	assert.Greater(t, explored(quotaOf("without-reserve", "pods", "4")).States, without.States)
}

// A quota of CPUs refuses pods that specify none, however large it is. A user creates it before the ReplicaSet has its pod, or afterwards.
func TestExploreKnowsThatAQuotaRefusesPodsThatDoNotSpecifyWhatItLimits(t *testing.T) {
	for name, quota := range map[string]client.Object{"no room": quotaOf("q", "pods", "0"), "unspecified": quotaOf("q", "cpu", "100")} {
		t.Run(name, func(t *testing.T) {
			s := by(func(context.Context, *buildertest.Client, *corev1.ConfigMap) (reconcile.Result, error) {
				return reconcile.Result{}, nil
			})
			s.Objects = append(s.Objects, world.Node("n1"), aReplicaSet())
			s.Cluster = world.Cluster(world.Options{})
			s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error {
				return c.Create(ctx, quota.DeepCopyObject().(client.Object))
			}}
			assert.Equal(t, 2, buildertest.Explore(t, s, buildertest.Bounds{Edits: 1}).Ends)
		})
	}
}

// The ReplicaSet may take the quota before it is deleted, though nothing reads it.
func TestExploreLetsAWorkloadThatNothingReadsGoLaterUnderAQuota(t *testing.T) {
	change := func(verb world.Verb, edit func(*appsv1.ReplicaSet)) world.Controller {
		return world.Func("a-controller", func(s *world.State) (changes []world.Change) {
			for _, set := range world.All[*appsv1.ReplicaSet](s) {
				if *set.Spec.Replicas > 0 {
					edited := set.DeepCopy()
					edit(edited)
					changes = append(changes, world.Change{Verb: verb, Object: edited})
				}
			}
			return changes
		})
	}
	for name, controller := range map[string]world.Controller{
		"it is deleted": change(world.VerbDelete, func(*appsv1.ReplicaSet) {}),
		"it is scaled":  change(world.VerbUpdate, func(set *appsv1.ReplicaSet) { set.Spec.Replicas = new(int32(0)) }),
	} {
		t.Run(name, func(t *testing.T) {
			s := besides(startsWithAPod, nil, aReplicaSet(), quotaOf("one-pod", "pods", "1"))
			s.Cluster = world.Cluster(world.Options{Controllers: []world.Controller{controller}})
			_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
			require.ErrorIs(t, err, errHasNone)
		})
	}
}

// Which pods a quota has refused, and at which use, depends on when other pods end.
func TestTheOrderInWhichAQuotaRefusesPodsIsNoOtherEnd(t *testing.T) {
	running := podWith("other", containerOf("main", nil, nil))
	running.Spec.NodeName, running.Spec.RestartPolicy = "n1", corev1.RestartPolicyNever
	set := aReplicaSet()
	set.Spec.Replicas = new(int32(3))
	s := by(func(ctx context.Context, c *buildertest.Client, _ *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, c.Get(ctx, client.ObjectKeyFromObject(set), &appsv1.ReplicaSet{})
	})
	s.Objects = append(s.Objects, world.Node("n1"), running, set, quotaOf("two", "pods", "2"))
	s.Cluster = world.Cluster(world.Options{Pods: func(pod *corev1.Pod) world.Script { return world.Script{Ends: pod.Name == "other"} }})
	buildertest.Explore(t, s, buildertest.Bounds{})
}
