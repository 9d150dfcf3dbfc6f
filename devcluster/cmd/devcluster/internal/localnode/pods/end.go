package pods

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/util/tail"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podlog"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/shim"
)

// The limits of termination messages, as in the kubelet.
const (
	maxMessage      = 4096
	maxLogMessage   = 2048
	logMessageLines = 80
)

// end records how an attempt ended.
func (c *container) end(a *attempt) {
	t := c.terminated(a.process.Exit(), a.number, metav1.NewTime(a.started))
	if t.Reason == reasonCannotRun {
		c.pod.host.Events.Event(c.pod.Object(), corev1.EventTypeWarning, eventFailed, "Error: "+t.Message)
	}
	c.finish(t)
}

// endCannotRun records an attempt that came to nothing: the container counts as
// having run and failed, so that the restart policy, and with it a Job's backoff
// limit, decides what happens next.
func (c *container) endCannotRun(err error) {
	t := &corev1.ContainerStateTerminated{
		Reason: reasonCannotRun, Message: err.Error(), StartedAt: c.pod.now(), FinishedAt: c.pod.now(),
	}
	var cannot *cannotRunError
	errors.As(err, &cannot)
	t.ExitCode = cannot.code
	c.pod.host.Events.Event(c.pod.Object(), corev1.EventTypeWarning, eventFailed, "Error: "+err.Error())
	c.pod.mu.Lock()
	if c.ended != nil {
		c.last = corev1.ContainerState{Terminated: c.ended}
		c.restarts++
	}
	t.ContainerID = c.containerID(c.attempts)
	c.attempts++
	c.pod.mu.Unlock()
	c.finish(t)
}

func (c *container) finish(t *corev1.ContainerStateTerminated) {
	c.set(func() {
		c.running, c.started, c.ready = nil, false, false
		c.ended = t
		c.state = corev1.ContainerState{Terminated: t}
	})
}

func (c *container) terminated(exit shim.Exit, number int32, started metav1.Time) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{
		ExitCode: int32(exit.Code), Signal: int32(exit.Signal), Reason: reasonError,
		StartedAt: started, FinishedAt: metav1.NewTime(exit.Finished), ContainerID: c.containerID(number),
	}
	switch {
	case exit.Error != "":
		t.Reason = reasonCannotRun
		t.Message = "the command could not be started: " + exit.Error
	case exit.Code == 0:
		t.Reason = reasonCompleted
		fallthrough
	default:
		t.Message = c.message(number, exit.Code)
	}
	return t
}

// message is the termination message of an attempt.
func (c *container) message(number int32, code int) string {
	data, _, _ := tail.ReadAtMost(c.file(number, "message"), maxMessage) // a container may have removed the file: no message
	message := string(data)
	if message == "" && code != 0 && c.spec.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
		message = podlog.Last(c.file(number, "log"), logMessageLines, maxLogMessage)
	}
	return strings.ToValidUTF8(message, "\uFFFD")
}
