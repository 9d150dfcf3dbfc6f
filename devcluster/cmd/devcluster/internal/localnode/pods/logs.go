package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podlog"
)

// Logs writes a container's log. It needs only the pod's object and directory, so
// it also serves pods that finished before the node was started again; live is
// the pod if it runs here, or nil.
func Logs(ctx context.Context, w io.Writer, dir string, object *corev1.Pod, live *Pod, container string, opts *corev1.PodLogOptions) error {
	number, err := loggedAttempt(object, container, opts.Previous)
	if err != nil {
		return err
	}
	path := logPath(Dir(dir, object), container, number)
	var log *podlog.Log
	if live != nil {
		if a, err := live.attemptOf(container); err == nil && a.number == number {
			log = a.log
		}
	}
	err = podlog.Read(ctx, w, path, log, opts)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it never came to have output
	}
	return err
}

// loggedAttempt is the number of the attempt whose log is asked for: the running
// or latest one, or the one before. It is read from the containerID.
func loggedAttempt(pod *corev1.Pod, container string, previous bool) (int32, error) {
	status, ok := podutil.GetContainerStatus(pod.Status.ContainerStatuses, container)
	if !ok {
		status, ok = podutil.GetContainerStatus(pod.Status.InitContainerStatuses, container)
	}
	if !ok {
		return 0, errdefs.NotFoundf("container %q not found in pod %q", container, pod.Name)
	}
	id := ""
	last := status.LastTerminationState.Terminated
	switch {
	case previous && last != nil:
		id = last.ContainerID
	case previous:
		return 0, errdefs.InvalidInputf("previous terminated container %q in pod %q not found", container, pod.Name)
	case status.State.Running != nil:
		id = status.ContainerID
	case status.State.Terminated != nil:
		id = status.State.Terminated.ContainerID
	case last != nil:
		id = last.ContainerID
	default:
		reason := "ContainerCreating"
		if w := status.State.Waiting; w != nil {
			reason = strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
		}
		return 0, errdefs.InvalidInputf("container %q in pod %q is waiting to start: %s", container, pod.Name, reason)
	}
	number, err := strconv.ParseInt(id[strings.LastIndex(id, "/")+1:], 10, 32)
	if err != nil || !strings.HasPrefix(id, ContainerIDPrefix) {
		return 0, errdefs.InvalidInputf("container %q in pod %q did not run on this node (containerID %q)", container, pod.Name, id)
	}
	return int32(number), nil
}

func (p *Pod) logPath(container string, number int32) string {
	return logPath(p.dir, container, number)
}

func logPath(dir, container string, number int32) string {
	return filepath.Join(dir, "containers", container, fmt.Sprintf("%d.log", number))
}
