package pods

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

type kind int

const (
	initKind kind = iota
	sidecarKind
	regularKind
)

// container is one container of a pod, over all its attempts.
type container struct {
	pod  *Pod
	spec *corev1.Container
	kind kind
	dir  string

	backoff     backoff
	stopSidecar chan struct{} // closed to stop a sidecar; other containers stop with the pod
	firstStart  chan struct{} // closed when it has started for the first time
	settled     chan struct{} // closed when it will not run again
	launched    bool          // run was called; for the pod's own goroutine only

	// The fields below are guarded by the pod's mutex.

	state, last corev1.ContainerState
	ended       *corev1.ContainerStateTerminated // the end of the latest attempt
	restarts    int32
	attempts    int32 // how many there were; the latest is number attempts-1
	running     *attempt
	started     bool
	ready       bool
}

func newContainer(p *Pod, spec *corev1.Container, kind kind, statuses []corev1.ContainerStatus) *container {
	c := &container{
		pod: p, spec: spec, kind: kind, dir: filepath.Join(p.dir, "containers", spec.Name),
		stopSidecar: make(chan struct{}), firstStart: make(chan struct{}), settled: make(chan struct{}),
	}
	waiting := reasonContainerCreating
	if len(p.object.Spec.InitContainers) > 0 {
		waiting = reasonPodInitializing
	}
	c.state.Waiting = &corev1.ContainerStateWaiting{Reason: waiting}
	if status, ok := podutil.GetContainerStatus(statuses, spec.Name); ok {
		c.recover(&status)
	} else {
		c.recover(&corev1.ContainerStatus{})
	}
	return c
}

// run runs attempts until the container is told to stop or does not restart.
func (c *container) run() {
	defer close(c.settled)
	for recovered := true; ; recovered = false {
		if t := c.result(); t != nil {
			if c.isStopping() || !podutil.ContainerShouldRestart(*c.spec, c.restartSpec(), t.ExitCode) {
				return
			}
			if !recovered && !c.waitToRestart(t) {
				return
			}
		}
		if c.isStopping() {
			return
		}
		c.attempt()
	}
}

// restartSpec is the pod's spec as far as it decides about restarts. The init
// containers of a pod that always restarts its containers restart until they
// succeed, and then not again.
func (c *container) restartSpec() corev1.PodSpec {
	policy := c.pod.Object().Spec.RestartPolicy
	if c.kind == initKind && policy == corev1.RestartPolicyAlways {
		policy = corev1.RestartPolicyOnFailure
	}
	return corev1.PodSpec{RestartPolicy: policy}
}

// waitToRestart waits for the backoff; false means that the container was stopped.
func (c *container) waitToRestart(t *corev1.ContainerStateTerminated) bool {
	wait := c.backoff.next(t.FinishedAt.Sub(t.StartedAt.Time))
	if wait == 0 {
		return true
	}
	message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", wait, c.spec.Name, c.pod.name)
	c.pod.host.Events.Event(c.pod.Object(), corev1.EventTypeWarning, eventBackOff, message)
	c.set(func() {
		c.last = corev1.ContainerState{Terminated: t}
		c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reasonCrashLoop, Message: message}}
	})
	if c.pod.pause(c.stop(), nil, wait) {
		return true
	}
	c.set(func() { c.state = corev1.ContainerState{Terminated: t} })
	return false
}

// set changes the container's state and has it sent.
func (c *container) set(change func()) {
	c.pod.mu.Lock()
	change()
	c.pod.mu.Unlock()
	c.pod.changed()
}

// result is how the latest attempt ended; nil if there was none.
func (c *container) result() *corev1.ContainerStateTerminated {
	c.pod.mu.Lock()
	defer c.pod.mu.Unlock()
	return c.ended
}

// stop is closed when the container has to stop.
func (c *container) stop() <-chan struct{} {
	if c.kind == sidecarKind {
		return c.stopSidecar
	}
	return c.pod.stopping
}

func (c *container) isStopping() bool { return isClosed(c.stop()) }

// waitFor sets the container waiting for something outside and pauses; false
// means that the container was stopped.
func (c *container) waitFor(reason, message string, poked <-chan struct{}) bool {
	c.pod.mu.Lock()
	news := c.state.Waiting == nil || c.state.Waiting.Message != message
	c.pod.mu.Unlock()
	if news {
		c.pod.host.Events.Event(c.pod.Object(), corev1.EventTypeWarning, eventFailed, "Error: "+message)
		c.set(func() {
			if c.ended != nil {
				c.last = corev1.ContainerState{Terminated: c.ended}
			}
			c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		})
	}
	return c.pod.pause(c.stop(), poked, retryPeriod)
}

// untilStop is a context for calls that the container's stop should cut short.
func (c *container) untilStop() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	go func() {
		select {
		case <-c.stop():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
