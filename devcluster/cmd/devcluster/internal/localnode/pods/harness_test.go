package pods

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/hosts"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
)

// The test binary is the shim of the containers: see the init function of package shim.

type bench struct {
	*testing.T
	host   *Host
	client *fake.Clientset
	clock  *testclock.FakeClock
	out    string // a directory that containers write to, as $OUT
}

func newBench(t *testing.T, objects ...runtime.Object) *bench {
	t.Helper()
	client := fake.NewClientset(objects...)
	clock := testclock.NewFakeClock(time.Now())
	server, _ := url.Parse("https://127.0.0.1:6443")
	return &bench{T: t, client: client, clock: clock, out: t.TempDir(), host: &Host{
		NodeName: "node-1", IP: "127.0.0.1", Dir: filepath.Join(t.TempDir(), "pods"), APIServer: server,
		Client: client, Objects: podenv.Live{Client: client}, Events: &record.FakeRecorder{}, Clock: clock, Hosts: hosts.New(t.TempDir()).Path, Starts: make(chan struct{}, 8),
	}}
}

// running is a pod that runs, with the statuses it reported.
type running struct {
	*Pod
	bench *bench
	stop  context.CancelFunc

	mu       sync.Mutex
	statuses []corev1.PodStatus
}

func (b *bench) run(object *corev1.Pod) *running {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{bench: b, stop: cancel}
	r.Pod = New(b.host, object, "127.1.0.1", func(pod *corev1.Pod) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.statuses = append(r.statuses, pod.Status)
	})
	go r.Run(ctx)
	b.Cleanup(func() {
		r.Terminate(0)
		b.until("pod ends", func() bool { return r.isDone() })
		cancel()
	})
	return r
}

func (r *running) isDone() bool { return isClosed(r.Done()) }

// status is what was reported last.
func (r *running) status() corev1.PodStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.statuses) == 0 {
		return corev1.PodStatus{}
	}
	return r.statuses[len(r.statuses)-1]
}

func (r *running) container(i int) corev1.ContainerStatus {
	if s := r.status().ContainerStatuses; i < len(s) {
		return s[i]
	}
	return corev1.ContainerStatus{}
}

// until waits for what real processes bring about, while the fake time passes.
func (b *bench) until(what string, ok func() bool) {
	b.Helper()
	for end := time.Now().Add(120 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("%s: did not happen in time", what)
		}
	}
}

func (b *bench) untilStepping(step time.Duration, what string, ok func() bool) {
	b.Helper()
	b.until(what, func() bool {
		if ok() {
			return true
		}
		b.clock.Step(step)
		return false
	})
}

func (r *running) finish() corev1.PodStatus {
	r.bench.Helper()
	r.bench.until("pod finishes", r.isDone)
	return r.status()
}

func (b *bench) file(name string) string {
	data, _ := os.ReadFile(filepath.Join(b.out, name))
	return string(data)
}

func (r *running) log(container string, opts corev1.PodLogOptions) string {
	var out strings.Builder
	if err := Logs(context.Background(), &out, r.host.Dir, r.Object(), r.Pod, container, &opts); err != nil {
		return "error: " + err.Error()
	}
	return out.String()
}

// sh is a container that runs a shell script.
func (b *bench) sh(name, script string) corev1.Container {
	return corev1.Container{
		Name: name, Image: "image", Command: []string{"/bin/sh", "-c", script},
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		Env: []corev1.EnvVar{{Name: "OUT", Value: b.out}},
	}
}

func makePod(policy corev1.RestartPolicy, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: types.UID("uid-1")},
		Spec: corev1.PodSpec{
			NodeName: "node-1", RestartPolicy: policy, TerminationGracePeriodSeconds: ptr.To[int64](30), Containers: containers,
		},
	}
}

const waitForTerm = `trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done`
