package pods

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/shim"
)

// recover continues a container from its status in the API and from its files.
// For a new container both are empty.
func (c *container) recover(status *corev1.ContainerStatus) {
	c.last = status.LastTerminationState
	c.restarts = status.RestartCount
	if status.ContainerID != "" || status.State.Running != nil || status.State.Terminated != nil {
		c.attempts = c.restarts + 1
	}
	// The files may be ahead: an attempt was started, and may have ended,
	// while the API server could not be told.
	latest := latestAttempt(c.dir)
	unreported := latest >= c.attempts
	switch {
	case unreported:
		if c.attempts > 0 {
			c.restarts += latest - (c.attempts - 1)
		}
		c.attempts = latest + 1
		c.ended = c.interrupted(latest, nil)
	case status.State.Running != nil:
		c.ended = c.interrupted(c.attempts-1, status.State.Running)
	case status.State.Terminated != nil:
		c.ended = status.State.Terminated
	case status.LastTerminationState.Terminated != nil: // was waiting for its restart
		c.ended = status.LastTerminationState.Terminated
	}
	if c.ended != nil {
		c.state = corev1.ContainerState{Terminated: c.ended}
	}
}

// interrupted is the end of an attempt that ran when the node stopped: what its
// shim recorded, or else that it was killed with the node.
func (c *container) interrupted(number int32, running *corev1.ContainerStateRunning) *corev1.ContainerStateTerminated {
	started := c.pod.now()
	if running != nil {
		started = running.StartedAt
	} else if info, err := os.Stat(c.file(number, "message")); err == nil {
		started = metav1.NewTime(info.ModTime())
	}
	if exit, err := shim.ReadExit(c.file(number, "exit")); err == nil {
		return c.terminated(exit, number, started)
	}
	return &corev1.ContainerStateTerminated{
		ExitCode: 137, Signal: 9, Reason: reasonUnknown,
		Message:   fmt.Sprintf("node restarted: container %q was killed when its node %s stopped", c.spec.Name, c.pod.host.NodeName),
		StartedAt: started, FinishedAt: c.pod.now(), ContainerID: c.containerID(number),
	}
}

// latestAttempt is the highest number of an attempt with a log, -1 for none.
func latestAttempt(dir string) int32 {
	latest := int32(-1)
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		name, isLog := strings.CutSuffix(entry.Name(), ".log")
		if n, err := strconv.ParseInt(name, 10, 32); isLog && err == nil {
			latest = max(latest, int32(n))
		}
	}
	return latest
}
