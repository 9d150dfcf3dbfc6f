package builder_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/rollout"
)

// stuckSet is a StatefulSet of three replicas of which the last pod is of a revision that nobody desires any more.
type stuckSet struct {
	t      *testing.T
	server *buildertest.Server
	ours   *buildertest.Client
	others *buildertest.Client
	set    *appsv1.StatefulSet
	engine *builder.Engine
}

func newStuckSet(t *testing.T, change func(set *appsv1.StatefulSet, broken *corev1.Pod)) *stuckSet {
	owner := newOwner()
	s := &stuckSet{t: t, server: buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(owner, newOtherOwner("another")))}
	s.ours, s.others = s.server.Client("operator"), s.server.Client("others")
	s.engine = buildertest.NewEngine(s.ours, builder.Options{Name: "test", Reader: s.ours.Live()}, buildertest.EngineOptions{Clock: s.ours.Now})
	labels := map[string]string{"app": "db"}
	s.set = &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: newOwner().Spec.Template.Spec},
		},
	}
	broken := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db-2", Labels: map[string]string{
			"app": "db", appsv1.ControllerRevisionHashLabelKey: "db-bad",
		}},
		Spec: newOwner().Spec.Template.Spec,
	}
	change(s.set, broken)
	_, err := s.reconcile()
	require.NoError(t, err)
	stored := &appsv1.StatefulSet{}
	require.NoError(t, s.others.Get(t.Context(), client.ObjectKeyFromObject(s.set), stored))
	stored.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: stored.Generation, Replicas: 3, ReadyReplicas: 2, AvailableReplicas: 2, CurrentReplicas: 2, UpdatedReplicas: 2,
		CurrentRevision: cmp.Or(s.set.Status.CurrentRevision, "db-good"), UpdateRevision: "db-good",
	}
	require.NoError(t, s.others.Status().Update(t.Context(), stored))
	if broken.OwnerReferences == nil {
		broken.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(stored, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	}
	status := broken.Status
	require.NoError(t, s.others.Create(t.Context(), broken))
	broken.Status = status
	require.NoError(t, s.others.Status().Update(t.Context(), broken))
	return s
}

// reconcile runs a pass.
func (s *stuckSet) reconcile() (builder.Result, error) {
	owner := &appsv1.Deployment{}
	require.NoError(s.t, s.others.Get(s.t.Context(), client.ObjectKeyFromObject(newOwner()), owner))
	return s.engine.For(owner).Rollout(rollout.Options{Phases: []string{"data"}}).Object(s.set.DeepCopy(), builder.InPhase("data")).Reconcile(s.t.Context())
}

func (s *stuckSet) brokenIsThere() bool {
	err := s.others.Get(s.t.Context(), client.ObjectKey{Namespace: "default", Name: "db-2"}, &corev1.Pod{})
	require.NoError(s.t, client.IgnoreNotFound(err))
	return err == nil
}

func TestPodsThatBlockAStatefulSet(t *testing.T) {
	ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	cases := map[string]struct {
		change  func(*appsv1.StatefulSet, *corev1.Pod)
		deleted bool
	}{
		"of an abandoned revision": {func(*appsv1.StatefulSet, *corev1.Pod) {}, true},
		"ready":                    {func(_ *appsv1.StatefulSet, p *corev1.Pod) { p.Status.Conditions = ready }, false},
		"of the update revision": {func(_ *appsv1.StatefulSet, p *corev1.Pod) {
			p.Labels[appsv1.ControllerRevisionHashLabelKey] = "db-good"
		}, false},
		"of no revision": {func(_ *appsv1.StatefulSet, p *corev1.Pod) {
			delete(p.Labels, appsv1.ControllerRevisionHashLabelKey)
		}, false},
		"of the current revision": {func(s *appsv1.StatefulSet, _ *corev1.Pod) { s.Status.CurrentRevision = "db-bad" }, false},
		"of the current revision, crashing": {func(s *appsv1.StatefulSet, p *corev1.Pod) {
			s.Status.CurrentRevision = "db-bad"
			p.Status.Phase = corev1.PodRunning
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			}}
		}, true},
		"of someone else": {func(_ *appsv1.StatefulSet, p *corev1.Pod) {
			p.OwnerReferences = controlled(&corev1.Pod{}, "another").OwnerReferences
		}, false},
		"of a set without order": {func(s *appsv1.StatefulSet, _ *corev1.Pod) {
			s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		}, false},
		"of a set with OnDelete": {func(s *appsv1.StatefulSet, _ *corev1.Pod) {
			s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		}, false},
		"below the partition": {func(s *appsv1.StatefulSet, _ *corev1.Pod) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](3)}
		}, false},
		"above the partition": {func(s *appsv1.StatefulSet, _ *corev1.Pod) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStuckSet(t, c.change)
			for range 2 { // the second time it has waited
				_, err := s.reconcile()
				require.NoError(t, err)
				s.server.Clock().Step(30 * time.Second)
			}
			assert.Equal(t, c.deleted, !s.brokenIsThere())
		})
	}
}

func (s *stuckSet) lists() int {
	return s.server.Ledger().Count(buildertest.VerbList, schema.GroupKind{Kind: "Pod"})
}

// Pods are listed at once if the status tells of some that are abandoned, else as long as it stays the same, less and less often.
func TestPodsAreListedWhenItMayMatter(t *testing.T) {
	s := newStuckSet(t, func(*appsv1.StatefulSet, *corev1.Pod) {})
	_, err := s.reconcile()
	require.NoError(t, err)
	assert.Equal(t, 1, s.lists())

	s = newStuckSet(t, func(set *appsv1.StatefulSet, _ *corev1.Pod) { set.Status.CurrentRevision = "db-bad" })
	pass := func(after, again time.Duration, lists int) {
		t.Helper()
		s.server.Clock().Step(after)
		res, err := s.reconcile()
		require.NoError(t, err)
		assert.Equal(t, again, res.RequeueAfter)
		assert.Equal(t, lists, s.lists())
	}
	pass(0, 30*time.Second, 0)
	pass(20*time.Second, 10*time.Second, 0)
	stored := &appsv1.StatefulSet{}
	require.NoError(t, s.others.Get(t.Context(), client.ObjectKeyFromObject(s.set), stored))
	stored.Status.UpdatedReplicas, stored.Status.CurrentReplicas = 1, 2
	require.NoError(t, s.others.Status().Update(t.Context(), stored))
	pass(20*time.Second, 30*time.Second, 0)
	pass(30*time.Second, 30*time.Second, 1)
	pass(10*time.Second, 20*time.Second, 1)
	pass(20*time.Second, time.Minute, 2)
	pass(time.Minute, 2*time.Minute, 3)
}

func TestPodsThatMayNotBeDeletedAreNamed(t *testing.T) {
	for verb, says := range map[buildertest.Verb]string{
		buildertest.VerbDelete: "run kubectl -n default delete pod db-2",
		buildertest.VerbList: "delete those that aren't ready of kubectl -n default get pods " +
			"-l 'app=db,controller-revision-hash,controller-revision-hash notin (db-good)'",
	} {
		t.Run(string(verb), func(t *testing.T) {
			s := newStuckSet(t, func(*appsv1.StatefulSet, *corev1.Pod) {})
			s.ours.Fail(buildertest.Fault{Verb: verb, Kind: schema.GroupKind{Kind: "Pod"}, Error: buildertest.Forbidden})
			res, err := s.reconcile()
			require.NoError(t, err)
			require.Len(t, builder.NotReady(res), 1)
			assert.Contains(t, builder.NotReady(res)[0].Message, says)
			assert.True(t, s.brokenIsThere())
		})
	}
}

// What must be done stays in the condition, also of a pod that the status doesn't tell of.
func TestTheAdviceStays(t *testing.T) {
	s := newStuckSet(t, func(set *appsv1.StatefulSet, p *corev1.Pod) {
		set.Status.CurrentRevision = "db-bad"
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		}}
	})
	s.ours.Fail(buildertest.Fault{Verb: buildertest.VerbDelete, Kind: schema.GroupKind{Kind: "Pod"}, Error: buildertest.Forbidden})
	for i := range 4 {
		res, err := s.reconcile()
		require.NoError(t, err)
		require.Len(t, builder.NotReady(res), 1)
		why := builder.NotReady(res)[0].Message
		assert.Equal(t, i > 0, strings.Contains(why, "run kubectl -n default delete pod db-2"), "pass %d: %s", i, why)
		if i == 0 {
			s.server.Clock().Step(30 * time.Second)
		}
	}
}

// Two pods serve by the current revision, the third is of one that is neither that nor the update revision.
func TestTheAdviceSparesPodsThatServe(t *testing.T) {
	s := newStuckSet(t, func(set *appsv1.StatefulSet, _ *corev1.Pod) { set.Status.CurrentRevision = "db-old" })
	stored := &appsv1.StatefulSet{}
	require.NoError(t, s.others.Get(t.Context(), client.ObjectKeyFromObject(s.set), stored))
	stored.Status.UpdatedReplicas = 0
	require.NoError(t, s.others.Status().Update(t.Context(), stored))
	s.ours.Fail(buildertest.Fault{Verb: buildertest.VerbList, Kind: schema.GroupKind{Kind: "Pod"}, Error: buildertest.Forbidden})
	res, err := s.reconcile()
	require.NoError(t, err)
	require.Len(t, builder.NotReady(res), 1)
	_, text, _ := strings.Cut(builder.NotReady(res)[0].Message, "-l '")
	text, _, _ = strings.Cut(text, "'")
	selector, err := labels.Parse(text)
	require.NoError(t, err)
	for hash, selected := range map[string]bool{"": false, "db-old": false, "db-good": false, "db-bad": true} {
		pod := labels.Set{"app": "db"}
		if hash != "" {
			pod[appsv1.ControllerRevisionHashLabelKey] = hash
		}
		assert.Equal(t, selected, selector.Matches(pod), "revision %q by %s", hash, text)
	}
}
