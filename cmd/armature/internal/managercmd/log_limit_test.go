package managercmd

import (
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// lockedText is written to by timers, too.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// take returns what was written since it was called last.
func (l *lockedText) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// limitedLog returns a logger as the manager's, what it has written so far, and what ends its windows.
func limitedLog(t *testing.T) (logger logr.Logger, lines func() []string, flush func()) {
	var out lockedText
	handler, err := logHandler(&out, "text", "info")
	require.NoError(t, err)
	limit := limitLines(handler)
	lines = func() []string { return strings.Split(strings.TrimSuffix(out.take(), "\n"), "\n") }
	return logr.FromSlogHandler(limit), lines, limit.flush
}

var invalidJob = apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "x", nil)

// What is refused for thousands of objects takes ten lines a minute, and one that says how many more there were.
func TestLinesOfOneSortAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines, _ := limitedLog(t)
		jobflow := logger.WithValues("controller", "jobflow")
		for i := range 60_000 {
			jobflow.WithValues("namespace", "tenant", "name", fmt.Sprint("flow", i)).Error(fmt.Errorf("create: %w", invalidJob), "Reconciler error")
		}
		logged := lines()
		require.Len(t, logged, linesAtOnce)
		assert.Contains(t, logged[9], "flow9")

		for what, log := range map[string]func(){
			"another namespace": func() { jobflow.WithValues("namespace", "other").Error(invalidJob, "Reconciler error") },
			"another controller": func() {
				logger.WithValues("controller", "x", "namespace", "tenant").Error(invalidJob, "Reconciler error")
			},
			"another reason":  func() { jobflow.WithValues("namespace", "tenant").Error(errors.New("x"), "Reconciler error") },
			"another message": func() { jobflow.WithValues("namespace", "tenant").Error(invalidJob, "x") },
			"no error":        func() { jobflow.WithValues("namespace", "tenant").Info("Reconciler error") },
		} {
			log()
			require.Len(t, lines(), 1, what)
		}

		time.Sleep(linesWindow)
		synctest.Wait()
		logged = lines()
		require.Len(t, logged, 1)
		assert.Contains(t, logged[0], `level=ERROR msg="more lines of this sort were left out" lines=59990 message="Reconciler error" reason=Invalid controller=jobflow namespace=tenant`)
		jobflow.WithValues("namespace", "tenant").Error(invalidJob, "Reconciler error")
		assert.Len(t, lines(), 1, "a new window")
		time.Sleep(linesWindow) // its timer is the last goroutine
	})
}

// At the end of the process the lines that were left out are told.
func TestLeftOutLinesAreToldAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines, flush := limitedLog(t)
		for range linesAtOnce + 5 {
			logger.Error(nil, "again")
		}
		flush()
		logged := lines()
		require.Len(t, logged, linesAtOnce+1)
		assert.Contains(t, logged[linesAtOnce], "lines=5 message=again")
	})
}

// However many sorts of lines there are, what is remembered of them is bounded.
func TestLineSortsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := limitLines(slog.DiscardHandler)
		n := 0
		for i := range 10 * maxLineSorts {
			if limit.counts.take(lineSort{namespace: fmt.Sprint(i)}, slog.LevelError) {
				n++
			}
		}
		assert.Equal(t, maxLineSorts+linesAtOnce, n)
		assert.Len(t, limit.counts.lines, maxLineSorts+1)
		limit.flush()
		assert.Empty(t, limit.counts.lines)
	})
}

// Each failed handshake is a line of package log with the client's port: they are of one sort.
func TestLinesAboutClientsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines, flush := limitedLog(t)
		server := log.New(packageLog{slog.New(logr.ToSlogHandler(logger))}, "", 0)
		for port := range 5000 {
			server.Printf("http: TLS handshake error from 10.0.0.1:%d: EOF", port)
		}
		logged := lines()
		require.Len(t, logged, linesAtOnce)
		assert.Contains(t, logged[0], `level=WARN msg="a server reports a problem with a client" line="http: TLS handshake error from 10.0.0.1:0: EOF"`)
		flush()
		assert.Contains(t, lines()[0], "lines=4990")
	})
}

// A manager that stops releases its lease, which is no error. One that loses it says so.
func TestAReleasedLeaseIsNoError(t *testing.T) {
	logger, lines, _ := limitedLog(t)
	lost := errors.New("leader election lost")
	logger.Error(lost, "error received after stop sequence was engaged")
	assert.Equal(t, []string{""}, lines())
	logger.Error(errors.New("x"), "error received after stop sequence was engaged")
	logger.Error(lost, "cannot go on")
	assert.Len(t, lines(), 2)
}
