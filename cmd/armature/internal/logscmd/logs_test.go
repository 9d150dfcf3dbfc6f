package logscmd

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
