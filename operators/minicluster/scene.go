package minicluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// scene is what a plan sees of a cluster: its Job, and the Job's pods.
type scene struct {
	now  metav1.Time
	job  *batchv1.Job
	pods []*corev1.Pod
	// leaders are the pods of rank 0, the latest first.
	leaders []*corev1.Pod
}

func look(c *v1alpha1.MiniCluster, seen builder.View) scene {
	s := scene{now: metav1.NewTime(seen.Now).Rfc3339Copy()} // as precise as the API server keeps it
	s.job, _ = builder.Lookup[*batchv1.Job](seen, c.Name)
	if s.job == nil {
		return s
	}
	for _, pod := range builder.Owned[*corev1.Pod](seen) {
		if !metav1.IsControlledBy(pod, s.job) {
			continue
		}
		s.pods = append(s.pods, pod)
		if rank(pod) == 0 {
			s.leaders = append(s.leaders, pod)
		}
	}
	slices.SortStableFunc(s.leaders, func(a, b *corev1.Pod) int {
		return cmp.Or(
			boolToInt(isOver(a))-boolToInt(isOver(b)), // a live one is later than one that has ended
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		)
	})
	return s
}

// leader is the latest pod of rank 0, if there is one.
func (s scene) leader() *corev1.Pod {
	if len(s.leaders) == 0 {
		return nil
	}
	return s.leaders[0]
}

// fallen returns a pod of rank 0 that has failed, the latest if there are several.
func (s scene) fallen() *corev1.Pod {
	for _, pod := range s.leaders {
		if pod.Status.Phase == corev1.PodFailed {
			return pod
		}
	}
	return nil
}

// fallenLeader returns the pod of rank 0 with a UID if it is there and has failed, else nil.
func (s scene) fallenLeader(uid types.UID) *corev1.Pod {
	for _, pod := range s.leaders {
		if pod.UID == uid && pod.Status.Phase == corev1.PodFailed {
			return pod
		}
	}
	return nil
}

// isStill reports whether no pod is running any more, nor about to be gone.
func (s scene) isStill() bool {
	return !slices.ContainsFunc(s.pods, func(p *corev1.Pod) bool { return !isOver(p) })
}

// count returns how many pods there are of the ranks that a cluster should have, and how many of them are ready.
func (s scene) count(c *v1alpha1.MiniCluster) (there, ready int32) {
	container := workerName(c)
	for _, pod := range s.pods {
		if isOver(pod) || pod.DeletionTimestamp != nil || rank(pod) < 0 || rank(pod) >= int(size(c)) {
			continue
		}
		there++
		if isServing(pod, container) {
			ready++
		}
	}
	return there, ready
}

// rank returns a pod's rank, -1 if it has none.
func rank(pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation]) // the label has the same key
	if err != nil {
		n, err = strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	}
	if err != nil {
		return -1
	}
	return n
}

func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// isServing reports whether the container that does the work is ready. The pod's readiness is no measure of it: sidecars
// come and go.
func isServing(pod *corev1.Pod, container string) bool {
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Name == container {
			return s.Ready
		}
	}
	return isReady(pod)
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return pod.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}

// wasTaken reports whether a pod was taken away from outside: deleted, drained, preempted, or lost with its node.
func wasTaken(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Reason == "Evicted" || slices.ContainsFunc(pod.Status.Conditions,
		func(c corev1.PodCondition) bool {
			return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
		})
}

// ending is how a container ended, nil if it hasn't.
func ending(pod *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == container {
			return pod.Status.ContainerStatuses[i].State.Terminated
		}
	}
	return nil
}

// condition returns the condition of a Job that is true, if there is one of a type.
func condition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// countPods renders a number of pods.
func countPods(n int32) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
