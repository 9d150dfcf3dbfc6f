package podlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// write stores the text; the n-th record is stamped n seconds after start.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "0.log")
	log, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	log.now = func() time.Time { n++; return start.Add(time.Duration(n) * time.Second) }
	log.Copy(strings.NewReader(text))
	return path
}

func TestRead(t *testing.T) {
	long := strings.Repeat("x", maxLine+10)
	sinceSecond := metav1.NewTime(start.Add(2 * time.Second))
	for _, c := range []struct {
		name, text string
		opts       corev1.PodLogOptions
		want       string
	}{
		{"everything", "a\nb\n", corev1.PodLogOptions{}, "a\nb\n"},
		{"last line without an end", "a\nb", corev1.PodLogOptions{}, "a\nb"},
		{"empty lines", "\n\na\n", corev1.PodLogOptions{}, "\n\na\n"},
		{"nothing", "", corev1.PodLogOptions{}, ""},
		{"a line of several records", long + "\nend\n", corev1.PodLogOptions{}, long + "\nend\n"},
		{"tail", "a\nb\nc\n", corev1.PodLogOptions{TailLines: ptr.To[int64](2)}, "b\nc\n"},
		{"tail of more than there is", "a\nb\n", corev1.PodLogOptions{TailLines: ptr.To[int64](9)}, "a\nb\n"},
		{"no tail", "a\nb\n", corev1.PodLogOptions{TailLines: ptr.To[int64](0)}, ""},
		{"since", "a\nb\nc\n", corev1.PodLogOptions{SinceTime: &sinceSecond}, "b\nc\n"},
		{"timestamps", "a\nb\n", corev1.PodLogOptions{Timestamps: true}, "2026-01-01T00:00:01.000000000Z a\n2026-01-01T00:00:02.000000000Z b\n"},
		{"limit", "abc\ndef\n", corev1.PodLogOptions{LimitBytes: ptr.To[int64](6)}, "abc\nde"},
		{"tail and limit", "abc\ndef\n", corev1.PodLogOptions{TailLines: ptr.To[int64](1), LimitBytes: ptr.To[int64](2)}, "de"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Read(t.Context(), &out, write(t, c.text), nil, &c.opts); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("got %q, want %q", out.String(), c.want)
			}
		})
	}
}

func TestTailOfALargeLog(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	if got, want := Last(write(t, text.String()), 2, 1000), "line 4998\nline 4999\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Last(write(t, text.String()), 2, 5), "4999\n"; got != want {
		t.Errorf("limited: got %q, want %q", got, want)
	}
}

func TestFollowEndsWithTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	log, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	in, feed := io.Pipe()
	go log.Copy(in)
	out, seen := io.Pipe()
	go func() {
		seen.CloseWithError(Read(context.Background(), seen, path, log, &corev1.PodLogOptions{Follow: true}))
	}()
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(feed, line); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(line))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != line {
			t.Fatalf("followed %q, %v, want %q", got, err, line)
		}
	}
	feed.Close()
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Fatalf("after the end: %q, %v", rest, err)
	}
}

func TestFollowEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	log, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Read(ctx, io.Discard, path, log, &corev1.PodLogOptions{Follow: true}) }()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
