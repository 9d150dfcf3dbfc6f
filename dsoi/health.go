package dsoi

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/internal/text"
)

const (
	// settled is how long a container must at least run after a restart to count as up.
	settled = 10 * time.Second
	// longRun is after what time a container's end says nothing of its next start.
	longRun = 5 * time.Minute
	// crashes is how many restarts make a crash loop of crashes.
	crashes = 2
	// crashLoop is what it is called then, whether the container has just ended, waits, or runs again.
	crashLoop = "CrashLoopBackOff"
)

// ailment is what is wrong with a pod, and when another look is due, should nothing happen until then.
type ailment struct {
	Unwell bool // it isn't ready, whatever the workload says of itself
	Failed bool // it won't become ready before someone changes something
	Why    string
	again  time.Duration
}

// healthOf says how a node's pods fare, of those of the workload's newest template: the first that has failed, else the
// first that is unwell. Older ones are about to go, and those that have ended are replaced.
func healthOf(node string, workload client.Object, pods []*corev1.Pod, now time.Time, stuckAfter time.Duration) ailment {
	var worst ailment
	newest := templateOf(workload).Annotations[AnnotationRevision]
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil || hasEnded(pod) || pod.Annotations[AnnotationRevision] != newest || !isPodOf(workload, pod) {
			continue
		}
		a := ailmentOf(pod, now, stuckAfter)
		if a.again > 0 && (worst.again == 0 || a.again < worst.again) {
			worst.again = a.again
		}
		if (a.Failed && !worst.Failed) || (a.Unwell && !worst.Unwell && !worst.Failed) {
			worst.Unwell, worst.Failed = a.Unwell, a.Failed
			worst.Why = "node " + node + ": pod " + pod.Name + ": " + a.Why
		}
	}
	return worst
}

// of returns what is said of a workload as long as it has the template that was looked at: when it gets another one, all
// its pods are about to go. Of that and of what the workload says of itself the worse counts.
func (a ailment) of(seen client.Object) func(client.Object) readiness.Status {
	looked := templateOf(seen).Annotations[AnnotationRevision]
	return func(child client.Object) readiness.Status {
		own := readiness.Of(child)
		if templateOf(child).Annotations[AnnotationRevision] != looked || (own.Failed && !a.Failed) {
			return own
		}
		return readiness.Status{Failed: a.Failed, Message: a.Why}
	}
}

// isPodOf reports whether a pod is a workload's: its own, or that of one of its ReplicaSets.
func isPodOf(workload client.Object, pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	return ref != nil && (ref.UID == workload.GetUID() || (ref.Kind == "ReplicaSet" && strings.HasPrefix(ref.Name, workload.GetName()+"-")))
}

// hasEnded reports whether a pod was evicted, or refused by its node, or has ended otherwise. A ReplicaSet keeps such a pod until the
// garbage collector deletes it, and creates another one. If that fails, the workload's own status says so.
func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// ailmentOf says what is wrong with a pod.
func ailmentOf(pod *corev1.Pod, now time.Time, stuckAfter time.Duration) ailment {
	var worst ailment
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			a := ailmentOfContainer(&statuses[i], now)
			if a.Failed {
				return a
			}
			if a.Unwell && !worst.Unwell {
				worst = a
			}
		}
	}
	if stuck := ailmentOfWaiting(pod, now, stuckAfter); stuck.Failed || !worst.Unwell {
		return stuck
	}
	return worst
}

// hopeless are reasons to wait that don't pass by themselves. The others of a pull in vain and of a crash loop are told
// under the same names, so that an attempt in between makes no difference.
var hopeless = map[string]bool{
	"CrashLoopBackOff": true, "ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "RunContainerError": true,
}

func ailmentOfContainer(c *corev1.ContainerStatus, now time.Time) ailment {
	last := c.LastTerminationState.Terminated
	switch s := &c.State; {
	case s.Waiting != nil && hopeless[s.Waiting.Reason]:
		return failed("container %s: %s", c.Name, whyWaiting(s.Waiting, c.Image, last))
	case s.Terminated != nil && s.Terminated.ExitCode != 0 && c.RestartCount >= crashes:
		return failed("container %s: %s%s", c.Name, crashLoop, lastEnd(s.Terminated))
	case s.Running == nil || last == nil || c.RestartCount == 0:
		return ailment{}
	default:
		left := mustRun(last) - now.Sub(s.Running.StartedAt.Time)
		if left <= 0 {
			return ailment{}
		}
		if c.RestartCount >= crashes && last.ExitCode != 0 {
			a := failed("container %s: %s%s", c.Name, crashLoop, lastEnd(last))
			a.again = left
			return a
		}
		return ailment{Unwell: true, Why: fmt.Sprintf("container %s: was restarted%s", c.Name, lastEnd(last)), again: left}
	}
}

// mustRun is how long a container must run after its last end to count as up: twice as long as it ran then, so that one
// that crashes every half minute never does.
func mustRun(last *corev1.ContainerStateTerminated) time.Duration {
	ran := last.FinishedAt.Sub(last.StartedAt.Time)
	if ran <= 0 || ran > longRun {
		return settled
	}
	return max(settled, 2*ran)
}

func failed(format string, args ...any) ailment {
	return ailment{Failed: true, Why: fmt.Sprintf(format, args...)}
}

// whyWaiting says why a container waits. Of one that crashes, its end says more than how long it is backed off.
func whyWaiting(w *corev1.ContainerStateWaiting, image string, last *corev1.ContainerStateTerminated) string {
	switch {
	case w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff":
		return fmt.Sprintf("ImagePullBackOff: the image %q can't be pulled", image)
	case last != nil || w.Message == "":
		return w.Reason + lastEnd(last)
	default:
		return w.Reason + ": " + w.Message
	}
}

// lastEnd says how a container ended last.
func lastEnd(t *corev1.ContainerStateTerminated) string {
	if t == nil {
		return ""
	}
	end := fmt.Sprintf(", last exit code %d", t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" {
		end += " (" + t.Reason + ")"
	}
	if message := strings.Join(strings.Fields(t.Message), " "); message != "" {
		end += ": " + text.Shorten(message, 80)
	}
	return end
}

// ailmentOfWaiting fails a pod that has not become ready for too long, whatever it waits for.
func ailmentOfWaiting(pod *corev1.Pod, now time.Time, stuckAfter time.Duration) ailment {
	since, why := pod.CreationTimestamp.Time, "phase "+string(pod.Status.Phase)
	for i := range pod.Status.Conditions {
		switch c := &pod.Status.Conditions[i]; {
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue:
			return ailment{}
		case c.Type == corev1.PodReady && !c.LastTransitionTime.IsZero():
			since = c.LastTransitionTime.Time
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse:
			why = c.Reason + ": " + c.Message
		}
	}
	if since.IsZero() {
		return ailment{}
	}
	if left := stuckAfter - now.Sub(since); left > 0 {
		return ailment{again: left}
	}
	return failed("not ready for %s: %s", stuckAfter, why)
}
