package pods

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func execProbe(script string, threshold int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", script}}},
		PeriodSeconds: 1, FailureThreshold: threshold, TimeoutSeconds: 20,
	}
}

func (b *bench) touch(name string) {
	if err := os.WriteFile(filepath.Join(b.out, name), nil, 0o644); err != nil {
		b.Fatal(err)
	}
}

func TestReadinessFollowsItsProbe(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", waitForTerm)
	c.ReadinessProbe = execProbe("test -e $OUT/ready", 2)
	r := b.run(makePod(corev1.RestartPolicyAlways, c))
	b.until("started", func() bool { s := r.container(0); return s.Started != nil && *s.Started })
	if r.container(0).Ready {
		t.Error("ready before the probe was")
	}
	b.touch("ready")
	b.untilStepping(time.Second, "ready", func() bool { return r.container(0).Ready })
	if err := os.Remove(filepath.Join(b.out, "ready")); err != nil {
		t.Fatal(err)
	}
	b.untilStepping(time.Second, "not ready", func() bool { return !r.container(0).Ready })
	if r.container(0).RestartCount != 0 {
		t.Error("a readiness probe restarted the container")
	}
}

func TestFailedLivenessProbeRestarts(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", waitForTerm)
	c.LivenessProbe = execProbe("test ! -e $OUT/dead", 2)
	pod := makePod(corev1.RestartPolicyAlways, c)
	pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1 << 20) // the clock goes on while the container ends
	r := b.run(pod)
	b.until("runs", func() bool { return r.log("main", corev1.PodLogOptions{}) == "up\n" })
	b.touch("dead")
	b.untilStepping(time.Second, "restarted", func() bool { return r.container(0).RestartCount > 0 })
	if last := r.container(0).LastTerminationState.Terminated; last == nil || last.ExitCode != 7 {
		t.Errorf("ended as %+v, want by SIGTERM", last)
	}
}

func TestStartupProbeHoldsTheOthersBack(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", waitForTerm)
	c.StartupProbe = execProbe("test -e $OUT/started", 1000000)
	c.LivenessProbe = execProbe("test -e $OUT/started", 1)
	r := b.run(makePod(corev1.RestartPolicyAlways, c))
	b.until("runs", func() bool { return r.container(0).State.Running != nil })
	if s := r.container(0); *s.Started || s.Ready {
		t.Errorf("started before its probe: %+v", s)
	}
	b.touch("started")
	b.untilStepping(time.Second, "started", func() bool { s := r.container(0); return *s.Started && s.Ready })
	if r.container(0).RestartCount != 0 {
		t.Error("restarted by a probe that had to wait")
	}
}

func TestHooks(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", `trap 'echo term >> $OUT/order; exit 0' TERM; echo up; while :; do sleep 0.01; done`)
	c.Lifecycle = &corev1.Lifecycle{
		PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "echo post >> $OUT/order"}}},
		PreStop:   &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "echo pre >> $OUT/order"}}},
	}
	r := b.run(makePod(corev1.RestartPolicyAlways, c))
	b.until("ready", func() bool { return r.container(0).Ready && r.log("main", corev1.PodLogOptions{}) == "up\n" })
	r.Terminate(time.Hour)
	r.finish()
	if got := b.file("order"); got != "post\npre\nterm\n" {
		t.Errorf("order %q", got)
	}
}

// The API server accepts such a command, and the kubelet expands it from the variables that the container's spec has as values.
func TestExecProbesExpandVariables(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", waitForTerm)
	c.Env = append(c.Env, corev1.EnvVar{Name: "X", Value: "1"})
	c.ReadinessProbe = execProbe("", 1)
	c.ReadinessProbe.Exec.Command = []string{"test", "$(X)", "=", "1"}
	r := b.run(makePod(corev1.RestartPolicyAlways, c))
	b.untilStepping(time.Second, "the probe's $(X) is the value of the variable X", func() bool { return r.container(0).Ready })
}

func TestDeletionShortensAKillThatAProbeBegan(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", `trap 'echo term' TERM; echo up; while :; do sleep 0.01; done`)
	c.LivenessProbe = execProbe("test ! -e $OUT/dead", 1)
	pod := makePod(corev1.RestartPolicyAlways, c)
	pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1 << 20)
	r := b.run(pod)
	b.until("runs", func() bool { return r.log("main", corev1.PodLogOptions{}) == "up\n" })
	b.touch("dead")
	b.untilStepping(time.Second, "the probe's signal arrives", func() bool { return r.log("main", corev1.PodLogOptions{}) != "up\n" })
	r.Terminate(time.Second)
	b.clock.Step(2 * time.Second)
	if end := r.finish().ContainerStatuses[0].State.Terminated; end == nil || end.ExitCode != 137 {
		t.Errorf("ended as %+v, want by SIGKILL", end)
	}
}

func TestContainersGetTheirSignalAfterALongPreStopHook(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", waitForTerm)
	c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 60}}}
	r := b.run(makePod(corev1.RestartPolicyAlways, c))
	b.until("runs", func() bool { return r.log("main", corev1.PodLogOptions{}) == "up\n" })
	r.Terminate(time.Second)
	b.clock.Step(time.Second)
	if end := r.finish().ContainerStatuses[0].State.Terminated; end == nil || end.ExitCode != 7 {
		t.Errorf("ended as %+v, want by SIGTERM: the hook leaves time for it", end)
	}
}
