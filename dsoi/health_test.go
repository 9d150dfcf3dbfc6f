package dsoi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(theTime.Add(-d)) }

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "back-off 10s"}}
}

func runningFor(d time.Duration) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(d)}}
}

// ended is a container's end some time ago, after it ran for a time.
func ended(code int32, since, ran time.Duration) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: "Error", StartedAt: ago(since + ran), FinishedAt: ago(since), Message: "no\nquorum",
	}}
}

func TestAilments(t *testing.T) {
	tests := map[string]struct {
		state, last corev1.ContainerState
		restarts    int32
		failed      bool
		unwell      bool
		why         string
		again       time.Duration
	}{
		"runs":                         {state: runningFor(time.Second)},
		"starts":                       {state: waiting("ContainerCreating")},
		"pulls in vain":                {state: waiting("ErrImagePull"), failed: true, why: `container c: ImagePullBackOff: the image "i" can't be pulled`},
		"waits to pull again":          {state: waiting("ImagePullBackOff"), failed: true, why: `container c: ImagePullBackOff: the image "i" can't be pulled`},
		"has no image":                 {state: waiting("InvalidImageName"), failed: true, why: "container c: InvalidImageName: back-off 10s"},
		"lacks a Secret":               {state: waiting("CreateContainerConfigError"), failed: true, why: "CreateContainerConfigError"},
		"crash loop":                   {state: waiting("CrashLoopBackOff"), last: ended(1, 5*time.Second, time.Second), restarts: 3, failed: true, why: "CrashLoopBackOff, last exit code 1: no quorum"},
		"has just ended once":          {state: ended(1, 0, time.Second), restarts: 0},
		"has just ended again":         {state: ended(7, 0, time.Second), restarts: 2, failed: true, why: "CrashLoopBackOff, last exit code 7: no quorum"},
		"has succeeded":                {state: ended(0, 0, time.Second), restarts: 2},
		"is up again":                  {state: runningFor(4 * time.Second), last: ended(1, 5*time.Second, time.Second), restarts: 1, unwell: true, why: "was restarted, last exit code 1", again: 6 * time.Second},
		"has stayed up":                {state: runningFor(10 * time.Second), last: ended(1, 11*time.Second, time.Second), restarts: 1},
		"is up between crashes":        {state: runningFor(4 * time.Second), last: ended(1, 5*time.Second, time.Second), restarts: 2, failed: true, why: "CrashLoopBackOff, last exit code 1: no quorum", again: 6 * time.Second},
		"crashes each half minute":     {state: runningFor(20 * time.Second), last: ended(1, 21*time.Second, 30*time.Second), restarts: 5, failed: true, why: "CrashLoop", again: 40 * time.Second},
		"has got over half a minute":   {state: runningFor(time.Minute), last: ended(1, 61*time.Second, 30*time.Second), restarts: 5},
		"was restarted after a week":   {state: runningFor(11 * time.Second), last: ended(137, 12*time.Second, 7*24*time.Hour), restarts: 1},
		"was restarted for a liveness": {state: runningFor(2 * time.Second), last: ended(0, 3*time.Second, time.Minute), restarts: 4, unwell: true, why: "was restarted, last exit code 0", again: 118 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			status := corev1.ContainerStatus{Name: "c", Image: "i", State: tt.state, LastTerminationState: tt.last, RestartCount: tt.restarts}
			pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "well", State: runningFor(time.Hour)}, status}}}
			a := ailmentOf(pod, theTime, time.Hour)
			assert.Equal(t, tt.failed, a.Failed, a.Why)
			assert.Equal(t, tt.unwell, a.Unwell, a.Why)
			assert.Contains(t, a.Why, tt.why)
			assert.Equal(t, tt.again, a.again)
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
			assert.Equal(t, a, ailmentOf(pod, theTime, time.Hour), "an init container is no better")
		})
	}
}

func TestAPodThatIsStuck(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ago(9 * time.Minute)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	assert.Equal(t, ailment{again: time.Minute}, ailmentOf(pod, theTime, 10*time.Minute))
	pod.CreationTimestamp = ago(10 * time.Minute)
	a := ailmentOf(pod, theTime, 10*time.Minute)
	assert.True(t, a.Failed)
	assert.Equal(t, "not ready for 10m0s: phase Pending", a.Why)

	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"},
	}
	assert.Equal(t, "not ready for 10m0s: Unschedulable: 0/3 nodes are available", ailmentOf(pod, theTime, 10*time.Minute).Why)

	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(time.Minute)}}
	assert.Equal(t, 9*time.Minute, ailmentOf(pod, theTime, 10*time.Minute).again, "since it was ready last")
	pod.Status.Conditions[0].Status = corev1.ConditionTrue
	assert.Equal(t, ailment{}, ailmentOf(pod, theTime, 10*time.Minute))
}

func crashing(name, revision string, controller metav1.OwnerReference) *corev1.Pod {
	controller.Controller = new(true)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{controller},
			Labels: map[string]string{LabelNode: "az1"}, Annotations: map[string]string{AnnotationRevision: revision, AnnotationCluster: "t"},
		},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: waiting("CrashLoopBackOff")}}},
	}
}

func TestOnlyPodsOfTheNewestTemplateCount(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "t-az1", UID: "set"}}
	set.Spec.Template.Annotations = map[string]string{AnnotationRevision: "new"}
	mine := metav1.OwnerReference{Kind: "StatefulSet", Name: "t-az1", UID: "set"}
	leaving := crashing("t-az1-3", "new", mine)
	leaving.DeletionTimestamp = &metav1.Time{Time: theTime}
	pods := []*corev1.Pod{
		crashing("t-az1-0", "old", mine), leaving,
		crashing("other", "new", metav1.OwnerReference{Kind: "StatefulSet", Name: "other", UID: "other"}),
		{ObjectMeta: metav1.ObjectMeta{Name: "alone", Annotations: map[string]string{AnnotationRevision: "new"}}},
	}
	assert.Equal(t, ailment{}, healthOf("az1", set, pods, theTime, time.Hour))
	pods = append(pods, crashing("t-az1-1", "new", mine), crashing("t-az1-2", "new", mine))
	a := healthOf("az1", set, pods, theTime, time.Hour)
	assert.True(t, a.Failed)
	assert.Equal(t, "node az1: pod t-az1-1: container c: CrashLoopBackOff: back-off 10s", a.Why)

	assert.True(t, a.of(set)(set).Failed)
	mended := set.DeepCopy()
	mended.Spec.Template.Annotations[AnnotationRevision] = "newer"
	assert.False(t, a.of(set)(mended).Failed, "its pods are about to go")
}

// A pod that was evicted, or that a node refused, stays until someone deletes it: its ReplicaSet has another in its place.
func TestPodsThatHaveEndedDoNotCount(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "t-az1", UID: "d"}}
	d.Spec.Template.Annotations = map[string]string{AnnotationRevision: "new"}
	for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodSucceeded} {
		pod := crashing("p", "new", metav1.OwnerReference{Kind: "ReplicaSet", Name: "t-az1-5d9c", UID: "rs"})
		pod.Status = corev1.PodStatus{
			Phase: phase, Reason: "Evicted",
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(2 * time.Hour)}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: ended(137, 2*time.Hour, time.Hour), RestartCount: 2}},
		}
		assert.Equal(t, ailment{}, healthOf("az1", d, []*corev1.Pod{pod}, theTime, time.Hour), phase)
		pod.Status.ContainerStatuses = nil // as of a pod that never started
		assert.Equal(t, ailment{}, healthOf("az1", d, []*corev1.Pod{pod}, theTime, time.Hour), phase)
	}
}

func TestPodsOfADeploymentAreFoundThroughItsReplicaSets(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "t-az1", UID: "d"}}
	assert.True(t, isPodOf(d, crashing("p", "", metav1.OwnerReference{Kind: "ReplicaSet", Name: "t-az1-5d9c", UID: "rs"})))
	assert.False(t, isPodOf(d, crashing("p", "", metav1.OwnerReference{Kind: "ReplicaSet", Name: "t-az2-5d9c", UID: "rs"})))
}

func TestPodsOfAnyKindOfWorkloadCount(t *testing.T) {
	of := metav1.ObjectMeta{Name: "t-az1", UID: "w"}
	newest := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationRevision: "new"}}}
	for owner, workload := range map[metav1.OwnerReference]client.Object{
		{Kind: "StatefulSet", Name: "t-az1", UID: "w"}:      &appsv1.StatefulSet{ObjectMeta: of, Spec: appsv1.StatefulSetSpec{Template: newest}},
		{Kind: "ReplicaSet", Name: "t-az1-5d9c", UID: "rs"}: &appsv1.Deployment{ObjectMeta: of, Spec: appsv1.DeploymentSpec{Template: newest}},
		{Kind: "DaemonSet", Name: "t-az1", UID: "w"}:        &appsv1.DaemonSet{ObjectMeta: of, Spec: appsv1.DaemonSetSpec{Template: newest}},
	} {
		a := healthOf("az1", workload, []*corev1.Pod{crashing("p", "new", owner)}, theTime, time.Hour)
		assert.Equal(t, "node az1: pod p: container c: CrashLoopBackOff: back-off 10s", a.Why, owner.Kind)
	}
}

// TestAFailureIsToldInTheSameWords: while a container crashes again and again, or its image is pulled in vain again and
// again, nothing new is said, so that a status isn't written and an event isn't sent with each attempt.
func TestAFailureIsToldInTheSameWords(t *testing.T) {
	crash := ended(3, time.Second, time.Second)
	for name, states := range map[string][]corev1.ContainerStatus{
		"a crash loop": {
			{State: waiting("CrashLoopBackOff"), LastTerminationState: crash, RestartCount: 2},
			{State: runningFor(time.Second), LastTerminationState: crash, RestartCount: 3},
			{State: crash, LastTerminationState: crash, RestartCount: 3},
			{State: waiting("CrashLoopBackOff"), LastTerminationState: crash, RestartCount: 3},
		},
		"a pull in vain": {{Image: "i", State: waiting("ErrImagePull")}, {Image: "i", State: waiting("ImagePullBackOff")}},
	} {
		for _, status := range states {
			a := ailmentOfContainer(&status, theTime)
			assert.True(t, a.Failed, name)
			assert.Equal(t, ailmentOfContainer(&states[0], theTime).Why, a.Why, name)
		}
	}
}

// TestACrashLoopIsNeverWell: however long a program runs before it crashes, as long as it is up to five minutes, there
// is no moment at which it looks well.
func TestACrashLoopIsNeverWell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ran := time.Duration(rapid.Int64Range(1, int64(longRun)).Draw(t, "ran"))
		since := time.Duration(rapid.Int64Range(0, int64(ran)).Draw(t, "since"))
		status := corev1.ContainerStatus{State: runningFor(since), LastTerminationState: ended(1, since, ran), RestartCount: rapid.Int32Range(1, 9).Draw(t, "restarts")}
		a := ailmentOfContainer(&status, theTime)
		assert.True(t, a.Failed || a.Unwell)
		assert.Positive(t, a.again, "another look is due when it may be well")
		later := ailmentOfContainer(&status, theTime.Add(a.again))
		assert.False(t, later.Failed || later.Unwell)
	})
}
