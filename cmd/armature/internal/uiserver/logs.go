package uiserver

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

const (
	// maxLogs is the most containers side by side, maxTail the most lines of their past, and defaultTail the lines if none are asked for.
	maxLogs, maxTail, defaultTail = 8, 10_000, 500
	// maxLine is the longest line in bytes. What is longer is cut.
	maxLine = 64 << 10
	// linesAhead is how many lines wait for the browser before the log is read no further. Each may be as long as maxLine.
	linesAhead = 64
)

// line is a line of a log, of the container with this index in the query.
type line struct {
	P int    `json:"p"`
	T string `json:"t,omitempty"`
	S string `json:"s"`
}

// logEnd says that a log is over, or why it can't be read.
type logEnd struct {
	P       int    `json:"p"`
	Message string `json:"message"`
}

// logQuery says which logs are asked for.
type logQuery struct {
	namespace string
	pods      [][2]string // pod and container
	options   corev1.PodLogOptions
}

func logQueryOf(r *http.Request) (logQuery, error) {
	query := r.URL.Query()
	q := logQuery{namespace: query.Get("namespace")}
	if q.namespace == "" {
		return q, badRequest("namespace must be set")
	}
	if err := checkNamespace(q.namespace); err != nil {
		return q, err
	}
	tail := int64(defaultTail)
	if text := query.Get("tail"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > maxTail {
			return q, badRequest(fmt.Sprintf("tail must be a number from 0 to %d, got %q", maxTail, text))
		}
		tail = n
	}
	q.options = corev1.PodLogOptions{Follow: true, Timestamps: true, TailLines: &tail, Previous: query.Get("previous") == "true"}
	for _, name := range query["pod"] {
		pod, container, _ := strings.Cut(name, "/")
		for _, part := range []string{pod, container} {
			if problems := validation.NameIsDNSSubdomain(part, false); len(problems) > 0 && part != "" || pod == "" {
				return q, badRequest(fmt.Sprintf("pod must be POD/CONTAINER, got %q", name))
			}
		}
		q.pods = append(q.pods, [2]string{pod, container})
	}
	if len(q.pods) == 0 || len(q.pods) > maxLogs {
		return q, badRequest(fmt.Sprintf("pod must be set 1 to %d times, got %d", maxLogs, len(q.pods)))
	}
	return q, nil
}

// streamLogs streams the logs of containers, side by side.
func (s *server) streamLogs(w http.ResponseWriter, r *http.Request, v *Viewer) {
	q, err := logQueryOf(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	out := newStream(w, r)
	ctx, cancel := context.WithCancel(r.Context())
	lines, ends := make(chan line, linesAhead), make(chan logEnd, len(q.pods))
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	for i, pod := range q.pods {
		readers.Go(func() {
			end := logEnd{P: i}
			if err := v.follow(ctx, q, pod, i, lines); err != nil {
				end.Message = err.Error()
			}
			ends <- end
		})
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for left := len(q.pods); out.err == nil; out.flush() {
		select {
		case <-ctx.Done():
			return
		case <-v.hub.ctx.Done():
			return
		case <-ping.C:
			out.ping()
		case first := <-lines:
			out.sendLines(first, lines)
		case end := <-ends:
			for len(lines) > 0 { // they came before it
				out.sendLines(<-lines, lines)
			}
			out.send("end", end)
			if left--; left == 0 {
				out.send("synced", struct{}{})
			}
		}
	}
}

// sendLines sends a line and those that have come with it.
func (s *stream) sendLines(first line, lines <-chan line) {
	var b batch
	for next, more := first, true; more && s.err == nil; {
		s.err = b.add(next)
		if b.full() {
			break
		}
		select {
		case next = <-lines:
		default:
			more = false
		}
	}
	s.sendBatch("lines", &b)
}

// follow reads one log to its end. A stream can end before: the kubelet, the API server or a proxy ends one that is old or silent. As long
// as the container runs, its log is opened again after the last line.
func (v *Viewer) follow(ctx context.Context, q logQuery, pod [2]string, index int, lines chan<- line) error {
	if v.pods == nil {
		return errors.New("there are no logs here")
	}
	pods, options := v.pods.CoreV1().Pods(q.namespace), q.options
	options.Container = pod[1]
	l := &logReader{index: index, lines: lines}
	delays := connect.Retries()
	for {
		body, err := pods.GetLogs(pod[0], &options).Stream(ctx)
		switch {
		case err == nil:
			delays = connect.Retries()
			err = l.read(ctx, body)
		case !l.again || connect.IsRefusal(err):
			return err
		}
		if ctx.Err() != nil || options.Previous {
			return err
		}
		runs, unknown := isRunning(ctx, pods, pod[0], pod[1])
		switch {
		case unknown == nil && !runs:
			return err
		case connect.IsRefusal(unknown):
			return cmp.Or(err, fmt.Errorf("the stream of the log has ended, and whether the container runs is unknown: %w", unknown))
		}
		select {
		case <-time.After(delays.Step()):
		case <-ctx.Done():
			return ctx.Err()
		}
		l.again = true
		if !l.last.IsZero() {
			options.TailLines, options.SinceTime = nil, &metav1.Time{Time: l.last}
		}
	}
}

// isRunning reports whether a container runs, or any of the pod if it has no name. It lists the pod: a viewer of logs may list pods, and
// not always get one.
func isRunning(ctx context.Context, pods typedcorev1.PodInterface, pod, container string) (bool, error) {
	list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", pod).String()})
	if err != nil {
		return false, err
	}
	for i := range list.Items {
		of := &list.Items[i].Status
		for _, c := range slices.Concat(of.InitContainerStatuses, of.ContainerStatuses, of.EphemeralContainerStatuses) {
			if (container == "" || c.Name == container) && c.State.Running != nil {
				return true, nil
			}
		}
	}
	return false, nil
}

// logReader reads the log of one container, by one stream after the other.
type logReader struct {
	index int
	lines chan<- line
	last  time.Time // of the last line
	again bool      // an earlier stream had the lines until then
}

// read reads one stream to its end.
func (l *logReader) read(ctx context.Context, body io.ReadCloser) error {
	defer body.Close()
	before := l.last
	reader := bufio.NewReaderSize(body, maxLine)
	for {
		text, isCut, err := reader.ReadLine()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		next, at := line{P: l.index, S: strings.ToValidUTF8(string(text), "\uFFFD")}, time.Time{}
		if stamp, rest, ok := strings.Cut(next.S, " "); ok {
			if at, err = time.Parse(time.RFC3339Nano, stamp); err == nil {
				next.T, next.S = at.UTC().Format(time.RFC3339Nano), rest
			}
		}
		if isCut {
			next.S += " …"
		}
		for err = nil; isCut && err == nil; { // the rest of the line
			_, isCut, err = reader.ReadLine()
		}
		if l.again && !at.After(before) { // the API server counts in seconds, and the kubelet repeats its own messages
			continue
		}
		if !at.IsZero() {
			l.last = at
		}
		select {
		case l.lines <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
