package pods

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

func TestContainersRunInOrder(t *testing.T) {
	b := newBench(t)
	pod := makePod(corev1.RestartPolicyNever, b.sh("main", `echo main >> $OUT/order; echo out; echo err >&2; echo gpu > /dev/termination-log`))
	pod.Spec.InitContainers = []corev1.Container{b.sh("one", `echo one >> $OUT/order`), b.sh("two", `echo two >> $OUT/order`)}
	r := b.run(pod)
	s := r.finish()
	if s.Phase != corev1.PodSucceeded || b.file("order") != "one\ntwo\nmain\n" {
		t.Errorf("phase %s, order %q", s.Phase, b.file("order"))
	}
	end := s.ContainerStatuses[0].State.Terminated
	if end == nil || end.ExitCode != 0 || end.Reason != "Completed" || end.Message != "gpu\n" || end.StartedAt.IsZero() || end.FinishedAt.IsZero() {
		t.Errorf("main ended as %+v", end)
	}
	if got := r.log("main", corev1.PodLogOptions{}); got != "out\nerr\n" {
		t.Errorf("log is %q", got)
	}
	for kind, want := range map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodInitialized: corev1.ConditionTrue, corev1.PodReady: corev1.ConditionFalse, corev1.ContainersReady: corev1.ConditionFalse,
	} {
		if _, c := podutil.GetPodCondition(&s, kind); c == nil || c.Status != want {
			t.Errorf("condition %s is %+v, want %s", kind, c, want)
		}
	}
	if s.PodIP != "127.1.0.1" || s.HostIP != "127.0.0.1" || s.StartTime == nil || s.QOSClass != corev1.PodQOSBestEffort {
		t.Errorf("status is %+v", s)
	}
}

func TestFailureIsFinalWithoutRestarts(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", `echo boom; exit 3`)
	c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	s := b.run(makePod(corev1.RestartPolicyNever, c)).finish()
	end := s.ContainerStatuses[0].State.Terminated
	if s.Phase != corev1.PodFailed || end == nil || end.ExitCode != 3 || end.Reason != "Error" || end.Message != "boom\n" {
		t.Errorf("phase %s, %+v", s.Phase, end)
	}
}

func TestFailedInitContainerFailsThePod(t *testing.T) {
	b := newBench(t)
	pod := makePod(corev1.RestartPolicyNever, b.sh("main", `touch $OUT/ran`))
	pod.Spec.InitContainers = []corev1.Container{b.sh("one", `exit 2`), b.sh("two", `touch $OUT/ran`)}
	s := b.run(pod).finish()
	if s.Phase != corev1.PodFailed || s.ContainerStatuses[0].State.Waiting == nil || s.ContainerStatuses[0].State.Waiting.Reason != "PodInitializing" {
		t.Errorf("phase %s, %+v", s.Phase, s.ContainerStatuses)
	}
	if _, err := os.Stat(filepath.Join(b.out, "ran")); !os.IsNotExist(err) {
		t.Error("a container ran after a failed init container")
	}
}

func TestSidecarRunsAsLongAsTheOthers(t *testing.T) {
	b := newBench(t)
	side := b.sh("side", `trap 'echo side >> $OUT/order; exit 0' TERM; echo ok > $OUT/side; while :; do sleep 0.01; done`)
	side.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	pod := makePod(corev1.RestartPolicyNever, b.sh("main", `until test -e $OUT/side; do sleep 0.01; done; echo main >> $OUT/order`))
	pod.Spec.InitContainers = []corev1.Container{side}
	s := b.run(pod).finish()
	if s.Phase != corev1.PodSucceeded || b.file("order") != "main\nside\n" {
		t.Errorf("phase %s, order %q", s.Phase, b.file("order"))
	}
}

func TestRestartsBackOff(t *testing.T) {
	b := newBench(t)
	r := b.run(makePod(corev1.RestartPolicyOnFailure, b.sh("main", `echo x >> $OUT/runs; echo run; test $(wc -l < $OUT/runs) -ge 4 || exit 1`)))
	waiting := func(message string) func() bool {
		return func() bool {
			w := r.container(0).State.Waiting
			return w != nil && w.Reason == "CrashLoopBackOff" && strings.HasPrefix(w.Message, message)
		}
	}
	b.until("waits 1s", waiting("back-off 1s"))
	if c := r.container(0); c.RestartCount != 1 || c.LastTerminationState.Terminated == nil || r.status().Phase != corev1.PodRunning {
		t.Errorf("while waiting: %+v, phase %s", c, r.status().Phase)
	}
	if got := r.log("main", corev1.PodLogOptions{Previous: true}); got != "run\n" {
		t.Errorf("previous log is %q", got)
	}
	b.untilStepping(100*time.Millisecond, "waits 2s", waiting("back-off 2s"))
	b.untilStepping(100*time.Millisecond, "finishes", r.isDone)
	if s := r.status(); s.Phase != corev1.PodSucceeded || s.ContainerStatuses[0].RestartCount != 3 {
		t.Errorf("phase %s, %+v", s.Phase, s.ContainerStatuses)
	}
}

func TestBackoffTimes(t *testing.T) {
	var b backoff
	for i, want := range []time.Duration{0, 1, 2, 4, 8, 16, 32, 60, 60} {
		if got := b.next(time.Second); got != want*time.Second {
			t.Errorf("restart %d waits %s, want %ds", i+1, got, want)
		}
	}
	if got := b.next(2 * maxBackoff); got != 0 {
		t.Errorf("after a long run the restart waits %s", got)
	}
}

func TestGracefulEnd(t *testing.T) {
	for _, c := range []struct {
		name, script string
		grace        time.Duration
		code         int32
	}{
		{"obeys", waitForTerm, time.Hour, 7},
		{"ignores", `trap '' TERM; echo up; while :; do sleep 0.01; done`, 0, 137},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			r := b.run(makePod(corev1.RestartPolicyAlways, b.sh("main", c.script)))
			b.until("runs", func() bool { return r.log("main", corev1.PodLogOptions{}) == "up\n" })
			r.Terminate(c.grace)
			s := r.finish()
			if end := s.ContainerStatuses[0].State.Terminated; s.Phase != corev1.PodFailed || end == nil || end.ExitCode != c.code {
				t.Errorf("phase %s, %+v", s.Phase, end)
			}
		})
	}
}

func TestGraceCanBeShortened(t *testing.T) {
	b := newBench(t)
	r := b.run(makePod(corev1.RestartPolicyAlways, b.sh("main", `trap '' TERM; echo up; while :; do sleep 0.01; done`)))
	b.until("runs", func() bool { return r.log("main", corev1.PodLogOptions{}) == "up\n" })
	r.Terminate(time.Hour)
	r.Terminate(time.Minute)
	b.clock.Step(61 * time.Second)
	if end := r.finish().ContainerStatuses[0].State.Terminated; end == nil || end.ExitCode != 137 {
		t.Errorf("ended as %+v", end)
	}
}

func TestActiveDeadline(t *testing.T) {
	b := newBench(t)
	pod := makePod(corev1.RestartPolicyNever, b.sh("main", waitForTerm))
	pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](60)
	r := b.run(pod)
	b.until("runs", func() bool { return r.log("main", corev1.PodLogOptions{}) == "up\n" })
	b.untilStepping(10*time.Second, "deadline", r.isStopping)
	if s := r.finish(); s.Phase != corev1.PodFailed || s.Reason != "DeadlineExceeded" || s.ContainerStatuses[0].State.Terminated.ExitCode != 7 {
		t.Errorf("phase %s, reason %s, %+v", s.Phase, s.Reason, s.ContainerStatuses)
	}
}

func TestMissingConfigMapIsWaitedFor(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", `echo $V`)
	c.Env = append(c.Env, corev1.EnvVar{Name: "V", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Key: "k",
	}}})
	r := b.run(makePod(corev1.RestartPolicyNever, c))
	b.until("waits", func() bool {
		w := r.container(0).State.Waiting
		return w != nil && w.Reason == "CreateContainerConfigError" && strings.Contains(w.Message, `"cm" not found`)
	})
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cm"}, Data: map[string]string{"k": "v"}}
	if _, err := b.client.CoreV1().ConfigMaps("ns").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Poke()
	if s := r.finish(); s.Phase != corev1.PodSucceeded || r.log("main", corev1.PodLogOptions{}) != "v\n" {
		t.Errorf("phase %s, log %q", s.Phase, r.log("main", corev1.PodLogOptions{}))
	}
}

func TestContainersThatCannotRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*corev1.PodSpec)
		code    int32
		message string
	}{
		{"no command", func(s *corev1.PodSpec) { s.Containers[0].Command = nil }, 128, `container "main" has no command`},
		{"unknown command", func(s *corev1.PodSpec) { s.Containers[0].Command = []string{"no-such-program"} }, 127, `"no-such-program" is not on this machine`},
		{"unsupported volume", func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}}}
		}, 128, `volume "v" is of type nfs`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			pod := makePod(corev1.RestartPolicyNever, b.sh("main", "exit 0"))
			c.change(&pod.Spec)
			s := b.run(pod).finish()
			end := s.ContainerStatuses[0].State.Terminated
			if s.Phase != corev1.PodFailed || end == nil || end.Reason != "ContainerCannotRun" || end.ExitCode != c.code || !strings.Contains(end.Message, c.message) {
				t.Errorf("phase %s, %+v", s.Phase, end)
			}
		})
	}
}

func TestLongTerminationMessagesKeepTheirEnd(t *testing.T) {
	b := newBench(t)
	s := b.run(makePod(corev1.RestartPolicyNever, b.sh("main", `{ head -c 5000 /dev/zero | tr '\0' a; printf end; } > $TERMINATION_LOG`))).finish()
	want := strings.Repeat("a", 4093) + "end"
	if end := s.ContainerStatuses[0].State.Terminated; end == nil || end.Message != want {
		t.Errorf("ended as %+v, want the last 4096 bytes of the message", end)
	}
}
