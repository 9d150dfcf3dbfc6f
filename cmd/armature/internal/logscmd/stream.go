package logscmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// entry is a line of a log.
type entry struct {
	at   time.Time
	from *runOf
	text string
}

// lines reads a container's log, line by line.
type lines struct {
	from   *runOf
	closer io.Closer
	reader *bufio.Reader
}

// open begins to read the log of a container. The API server is always asked for times: lines of several are put in their order.
func (s *source) open(ctx context.Context, r runOf, follow bool) (*lines, error) {
	o := &corev1.PodLogOptions{Container: r.container, Follow: follow, Timestamps: true}
	if s.tail >= 0 && !r.again {
		o.TailLines = &s.tail
	}
	var oldest time.Time
	if s.since > 0 {
		seconds := int64(max(s.since, time.Second).Seconds())
		o.SinceSeconds, oldest = &seconds, time.Now().Add(-s.since)
	}
	if follow && r.since.After(oldest) {
		o.SinceSeconds, o.SinceTime = nil, &metav1.Time{Time: r.since}
	}
	body, err := s.pods.GetLogs(r.pod, o).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the log of pod %s, container %s: %w", r.pod, r.container, err)
	}
	return &lines{from: &r, closer: body, reader: bufio.NewReader(body)}, nil
}

// next returns the next line, io.EOF after the last.
func (l *lines) next() (entry, error) {
	text, err := l.reader.ReadString('\n')
	if err != nil && text == "" {
		return entry{}, err
	}
	text = strings.TrimSuffix(text, "\n")
	e := entry{from: l.from, text: text}
	if stamp, rest, ok := strings.Cut(text, " "); ok {
		if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			e.at, e.text = at, rest
		}
	}
	return e, nil
}
