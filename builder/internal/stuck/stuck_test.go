package stuck

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

var pods = schema.GroupResource{Resource: "pods"}

// aSet is in a roll-out to the revision db-3, and waits: of its three pods one isn't ready, and of the abandoned revision db-2.
func aSet() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db", UID: "set", Generation: 3},
		Spec:       appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
		Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 3, Replicas: 3, ReadyReplicas: 2, CurrentReplicas: 2, CurrentRevision: "db-1", UpdateRevision: "db-3",
		},
	}
}

// podOf is a pod of the set that isn't ready.
func podOf(name, revision string) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "pod", ResourceVersion: "7"}}
	pod.Labels = map[string]string{"app": "db", appsv1.ControllerRevisionHashLabelKey: revision}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(aSet(), appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	return pod
}

// reader lists pods, or fails.
type reader struct {
	client.Reader
	pods  []corev1.Pod
	err   error
	lists int
}

func (r *reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	r.lists++
	list.(*corev1.PodList).Items = r.pods
	return r.err
}

func TestWhichStatefulSetsWait(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*appsv1.StatefulSet)
		waits  bool
	}{
		"in a roll-out":             {func(*appsv1.StatefulSet) {}, true},
		"in order":                  {func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement }, true},
		"in parallel":               {func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }, false},
		"with OnDelete":             {func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }, false},
		"terminating":               {func(s *appsv1.StatefulSet) { s.DeletionTimestamp = new(metav1.Unix(1, 0)) }, false},
		"of a spec not yet read":    {func(s *appsv1.StatefulSet) { s.Generation++ }, false},
		"without a revision":        {func(s *appsv1.StatefulSet) { s.Status.UpdateRevision = "" }, false},
		"with all pods ready":       {func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = 3 }, false},
		"with all pods of the spec": {func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas = 3 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := aSet()
			c.change(set)
			assert.Equal(t, c.waits, Waiting(set) != nil)
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
			require.NoError(t, err)
			untyped := Waiting(&unstructured.Unstructured{Object: fields})
			assert.Equal(t, c.waits, untyped != nil)
			if c.waits {
				assert.Equal(t, set.Status, untyped.Status)
			}
		})
	}
	assert.Nil(t, Waiting(&corev1.Pod{}))
	assert.Nil(t, Waiting(&unstructured.Unstructured{Object: map[string]any{"status": "none"}}), "it can't be read")
}

func TestTheSelectorOfAbandonedPods(t *testing.T) {
	assert.Equal(t, "app=db,controller-revision-hash,controller-revision-hash notin (db-3,db-1)", Selector(aSet(), false))
	assert.Equal(t, "app=db,controller-revision-hash,controller-revision-hash notin (db-3)", Selector(aSet(), true), "during a rollback")
	assert.Equal(t, int32(1), Abandoned(aSet(), false))
	assert.Equal(t, int32(3), Abandoned(aSet(), true))
}

// Pods below the partition keep their revision. Ordinals begin with the start.
func TestPodsBelowThePartitionDoNotBlock(t *testing.T) {
	set := aSet()
	all := []corev1.Pod{podOf("db-5", "db-2"), podOf("db-6", "db-2"), podOf("db-7", "db-2"), podOf("db-x", "db-2")}
	assert.Len(t, Blocking(set, all, false), 4)
	set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5}
	set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
	blocking := Blocking(set, all, false)
	require.Len(t, blocking, 1, "a pod without an ordinal is below it, too")
	assert.Equal(t, "db-7", blocking[0].Name)
}

func TestUnblock(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	forbidden := apierrors.NewForbidden(pods, "", nil)
	broken := errors.New("broken")
	const advice = "pods of an abandoned revision are in its way, and may not be listed: if it stays so, delete those that aren't ready of " +
		"kubectl -n default get pods -l 'app=db,controller-revision-hash,controller-revision-hash notin (db-3,db-1)'"
	for name, c := range map[string]struct {
		list, delete error
		gone         bool
		change       func(*Unblocker, *appsv1.StatefulSet)
		deleted      int
		advice, err  string
		lists        int
	}{
		"deletes it":             {deleted: 1, lists: 1},
		"it is gone":             {gone: true, lists: 1},
		"lists fail":             {list: broken, err: "list the pods of db: broken", lists: 1},
		"lists aren't allowed":   {list: forbidden, advice: advice, lists: 1},
		"deletions fail":         {delete: broken, err: "broken", lists: 1},
		"someone has changed it": {delete: apierrors.NewConflict(pods, "db-2", nil), lists: 1},
		"deletions aren't allowed": {delete: forbidden, lists: 1,
			advice: "pods of an abandoned revision that aren't ready are in its way: run kubectl -n default delete pod db-2"},
		"without a live reader":        {change: func(u *Unblocker, _ *appsv1.StatefulSet) { u.Watch = nil }, advice: advice},
		"a dry run":                    {change: func(u *Unblocker, _ *appsv1.StatefulSet) { u.DryRun = true }, deleted: 1, lists: 1},
		"with a selector that is none": {change: func(_ *Unblocker, s *appsv1.StatefulSet) { s.Spec.Selector = wrong }, advice: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			set, live := aSet(), &reader{pods: []corev1.Pod{podOf("db-0", "db-3"), podOf("db-2", "db-2")}, err: c.list}
			u := Unblocker{Live: live, Watch: NewWatch(1), Now: now}
			u.Delete = func(_ context.Context, key store.Key, observed client.Object) (bool, error) {
				assert.Equal(t, "Pod default/db-2", key.String())
				assert.Equal(t, "7", observed.GetResourceVersion(), "only in its observed version")
				return !c.gone && c.delete == nil, c.delete
			}
			if c.change != nil {
				c.change(&u, set)
			}
			result, err := u.Unblock(t.Context(), set, false)
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.err)
			}
			assert.Len(t, result.Deleted, c.deleted)
			if c.advice == "-" {
				assert.Contains(t, result.Advice, "may not be listed")
			} else {
				assert.Equal(t, c.advice, result.Advice)
			}
			assert.Equal(t, c.lists, live.lists)
		})
	}
}

// wrong is no selector.
var wrong = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}

// Pods of a set that counts no abandoned ones are listed once its status has been the same for a while, and then less and less often,
// as long as none of them is in its way.
func TestWhenPodsAreListed(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	set, live := aSet(), &reader{pods: []corev1.Pod{podOf("db-0", "db-3")}}
	set.Status.CurrentReplicas = 3
	u := Unblocker{Live: live, Watch: NewWatch(1)}
	pass := func(after time.Duration) time.Duration {
		now = now.Add(after)
		u.Now = now
		result, err := u.Unblock(t.Context(), set, false)
		require.NoError(t, err)
		return result.Wait
	}
	assert.Equal(t, firstList, pass(0))
	assert.Equal(t, 10*time.Second, pass(20*time.Second))
	assert.Zero(t, live.lists)
	assert.Equal(t, firstList, pass(10*time.Second))
	assert.Equal(t, 1, live.lists)
	assert.Equal(t, 2*firstList, pass(firstList), "the same for twice as long")
	assert.Equal(t, 2, live.lists)

	set.Status.ReadyReplicas = 1
	assert.Equal(t, firstList, pass(time.Hour), "the status has changed")
	assert.Equal(t, 2, live.lists)

	crashing := podOf("db-1", "db-1")
	crashing.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
	}}
	live.pods = append(live.pods, crashing)
	u.Delete = func(context.Context, store.Key, client.Object) (bool, error) { return true, nil }
	pass(firstList)
	pass(0)
	assert.Equal(t, 4, live.lists, "as long as a pod is in its way, each pass lists them")

	set.Status.ReadyReplicas = 2
	u.Watch, u.DryRun = nil, false
	assert.Zero(t, pass(time.Hour))
	u.Watch, u.DryRun = NewWatch(1), true
	assert.Zero(t, pass(0))
	assert.Equal(t, 5, live.lists, "a dry run doesn't wait")
	assert.PanicsWithError(t, "must provide a positive size", func() { NewWatch(0) })
}
