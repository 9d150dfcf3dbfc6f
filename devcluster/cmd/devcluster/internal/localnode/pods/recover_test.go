package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// stopNode ends the node of a running pod and returns the pod as the API has it then.
func (r *running) stopNode(t *testing.T) *corev1.Pod {
	t.Helper()
	before := r.Object()
	before.Status = r.status()
	r.stop()
	r.bench.until("node stops", r.isDone)
	if after := r.status(); after.ContainerStatuses[0].State.Running == nil {
		t.Errorf("the node's end is in the status: %+v", after.ContainerStatuses)
	}
	return before
}

func TestNodeRestart(t *testing.T) {
	for _, c := range []struct {
		policy   corev1.RestartPolicy
		restarts bool
	}{
		{corev1.RestartPolicyNever, false},
		{corev1.RestartPolicyOnFailure, true},
		{corev1.RestartPolicyAlways, true},
	} {
		t.Run(string(c.policy), func(t *testing.T) {
			b := newBench(t)
			pod := makePod(c.policy, b.sh("main", waitForTerm))
			pod.Spec.InitContainers = []corev1.Container{b.sh("init", `echo init >> $OUT/init`)}
			r := b.run(pod)
			b.until("runs", func() bool {
				return r.container(0).State.Running != nil && r.log("main", corev1.PodLogOptions{}) == "up\n"
			})

			r = b.run(r.stopNode(t))
			var end *corev1.ContainerStateTerminated
			if c.restarts {
				b.until("runs again", func() bool { return r.container(0).State.Running != nil })
				if got := r.container(0).RestartCount; got != 1 {
					t.Errorf("restart count %d", got)
				}
				end = r.container(0).LastTerminationState.Terminated
			} else {
				if s := r.finish(); s.Phase != corev1.PodFailed {
					t.Errorf("phase %s", s.Phase)
				}
				end = r.container(0).State.Terminated
			}
			if end == nil || end.ExitCode != 137 || end.Reason != "ContainerStatusUnknown" {
				t.Errorf("the interrupted attempt ended as %+v", end)
			}
			if b.file("init") != "init\n" {
				t.Errorf("init containers ran again: %q", b.file("init"))
			}
		})
	}
}

// A container that ended while nobody was there to tell the API has not failed.
func TestUnreportedEndIsNotLost(t *testing.T) {
	b := newBench(t)
	first := b.run(makePod(corev1.RestartPolicyNever, b.sh("main", "echo done; exit 0")))
	first.finish()

	r := b.run(makePod(corev1.RestartPolicyNever, b.sh("main", "exit 1")))
	s := r.finish()
	if s.Phase != corev1.PodSucceeded || s.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("phase %s, %+v", s.Phase, s.ContainerStatuses)
	}
	if got := r.log("main", corev1.PodLogOptions{}); got != "done\n" {
		t.Errorf("log is %q", got)
	}
}
