package logscmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestNegativeBoundsAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"jf/x --tail=-5": "--tail must be -1 (all) or greater, got -5", "jf/x --since=-5s": "--since must not be negative, got -5s",
	} {
		cmd := New()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(strings.Fields(args + " --server=127.0.0.1:1"))
		assert.EqualError(t, cmd.Execute(), want)
	}
	assert.NoError(t, options{tail: -1}.check())
	assert.NoError(t, options{tail: 0, since: 1}.check())
}

func TestLines(t *testing.T) {
	l := &lines{from: &runOf{}, reader: bufio.NewReader(strings.NewReader("2026-01-02T03:04:05.6Z one two\nno time\n2026-01-02T03:04:06Z end"))}
	var texts []string
	var times []time.Time
	for {
		e, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		texts, times = append(texts, e.text), append(times, e.at)
	}
	assert.Equal(t, []string{"one two", "no time", "end"}, texts)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 6e8, time.UTC), times[0])
	assert.True(t, times[1].IsZero())
}

func TestStarted(t *testing.T) {
	again := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "main", RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: again}}},
		{Name: "late", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}},
	}
	all := (&source{}).started(pod)
	require.Len(t, all, 2)
	assert.Equal(t, "p/init", all[0].label)
	assert.Equal(t, again.Time, all[1].since, "what it printed before it was started again has been read")

	one := (&source{options: options{container: "main"}}).started(pod)
	require.Len(t, one, 1)
	assert.Equal(t, "p", one[0].label)
}

// A stream that ends while its container runs is opened again, after the last line.
func TestFollowGoesOnAfterAStreamEnds(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Query().Get("sinceTime")+" "+r.URL.Query().Get("sinceSeconds")+" "+r.URL.Query().Get("tailLines"))
		fmt.Fprint(w, "2026-01-02T03:04:05.1Z one\n")
		if len(asked) > 1 {
			fmt.Fprint(w, "2026-01-02T03:04:05.2Z two\n")
		}
	}))
	t.Cleanup(server.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	var out bytes.Buffer
	s := &source{options: options{most: 2, tail: 1}, pods: clients.CoreV1().Pods("ns")}
	f := s.newFollower(&printer{out: &out})
	run := runOf{pod: "a", uid: "a", container: "main", label: "a", runs: true}
	for range 2 {
		require.NoError(t, f.start(t.Context(), found{started: []runOf{run}}))
		require.NoError(t, f.wait())
	}
	run.runs = false
	require.NoError(t, f.start(t.Context(), found{started: []runOf{run}}))
	require.NoError(t, f.wait())
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{"  1", "2026-01-02T03:04:05Z  "}, asked)
	assert.Equal(t, "a | one\na | two\n", out.String())
	<-f.ends
}

// The lines that someone wants are newer than --since, and than the start of a container that was started again.
// After a retry, the status says that the object has failed until the operator has observed the new spec and carried out the retry.
func TestARetriedObjectHasNotEnded(t *testing.T) {
	of := func(kind string, generation, observed, requested, carriedOut int64) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "api.practice.com/v1alpha1", "kind": kind, "spec": map[string]any{"retry": requested},
			"status": map[string]any{"state": "Failed", "observedGeneration": observed, "retry": carriedOut, "completionTime": "2026-01-02T03:04:05Z"},
		}}
		u.SetGeneration(generation)
		return u
	}
	for _, kind := range []string{"JobFlow", "DaemonJob"} {
		assert.True(t, hasEnded(of(kind, 1, 1, 0, 0)), kind)
		assert.False(t, hasEnded(of(kind, 2, 1, 1, 0)), "%s: its status is of the spec before", kind)
		assert.False(t, hasEnded(of(kind, 2, 2, 1, 0)), "%s: the retry isn't carried out", kind)
		assert.True(t, hasEnded(of(kind, 2, 2, 1, 1)), "%s: the retry has failed, too", kind)
	}
	terminated := of("JobFlow", 2, 2, 1, 0)
	require.NoError(t, unstructured.SetNestedField(terminated.Object, true, "spec", "terminate"))
	assert.True(t, hasEnded(terminated), "a terminated flow isn't retried")
	succeeded := of("JobFlow", 1, 1, 1, 0)
	require.NoError(t, unstructured.SetNestedField(succeeded.Object, "Succeed", "status", "state"))
	assert.True(t, hasEnded(succeeded), "only a failed flow is retried")
	gone := of("JobFlow", 2, 1, 1, 0)
	gone.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
	assert.True(t, hasEnded(gone))
}

func TestSince(t *testing.T) {
	asked := make(chan url.Values, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Query() }))
	t.Cleanup(server.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	s := &source{options: options{tail: -1, since: time.Minute}, pods: clients.CoreV1().Pods("ns")}
	for ago, want := range map[time.Duration]string{time.Hour: "sinceSeconds", time.Second: "sinceTime"} {
		l, err := s.open(t.Context(), runOf{pod: "a", container: "main", since: time.Now().Add(-ago)}, true)
		require.NoError(t, err)
		require.NoError(t, l.closer.Close())
		query := <-asked
		assert.Len(t, query[want], 1, "%v", query)
	}
}

// A stream that follows a container counts until the container has ended: as many containers as one likes may follow each other.
func TestFollowReadsSoManyLogsAtATime(t *testing.T) {
	open, ended := make(chan string), map[string]chan struct{}{}
	for _, name := range []string{"a", "b", "c", "d"} {
		ended[name] = make(chan struct{})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Split(r.URL.Path, "/")[6]
		open <- name
		<-ended[name]
		fmt.Fprintf(w, "2026-01-02T03:04:05Z of %s\n", name)
	}))
	t.Cleanup(server.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	var out bytes.Buffer
	s := &source{options: options{most: 2, tail: -1}, pods: clients.CoreV1().Pods("ns")}
	f := s.newFollower(&printer{out: &out})
	run := func(pod string, runs bool) runOf {
		return runOf{pod: pod, uid: pod, container: "main", label: pod, runs: runs}
	}

	require.NoError(t, f.start(t.Context(), found{started: []runOf{run("a", true), run("b", true)}}))
	assert.ElementsMatch(t, []string{"a", "b"}, []string{<-open, <-open})
	err = f.start(t.Context(), found{started: []runOf{run("a", true), run("b", true), run("c", true)}, parts: "x, y"})
	require.EqualError(t, err, "3 containers run, and --max-log-requests is 2: raise it, or name a part: one of x, y")
	require.NoError(t, f.start(t.Context(), found{started: []runOf{run("a", false), run("b", true), run("c", true), run("d", false)}}))
	for _, name := range []string{"a", "b"} {
		close(ended[name])
	}
	assert.ElementsMatch(t, []string{"c", "d"}, []string{<-open, <-open}, "they waited for the end of others")
	close(ended["c"])
	close(ended["d"])
	require.NoError(t, f.wait())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(lines)
	assert.Equal(t, []string{"a | of a", "b | of b", "c | of c", "d | of d"}, lines)
}
