// Package binary runs bin/armature as a process, for tests. ARMATURE_BIN names a binary that has been built from this source
// already, which make does once for all suites; without it each test binary asks go build, which takes seconds also when nothing
// has changed.
package binary

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// binaryEnv names the binary.
const binaryEnv = "ARMATURE_BIN"

// stopTimeout is much more than a manager takes to stop by its own rules, which is at most a minute: the machine may be busy.
const stopTimeout = 5 * time.Minute

// Root returns the root of the repository.
func Root(t *testing.T) string {
	t.Helper()
	root, err := findRoot()
	require.NoError(t, err)
	return root
}

var findRoot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return string(bytes.TrimSpace(out)), err
})

var buildOnce = sync.OnceValues(func() (string, error) {
	if binary := os.Getenv(binaryEnv); binary != "" {
		if _, err := os.Stat(binary); err != nil {
			return binaryEnv, err
		}
		return binary, nil
	}
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(root, "bin", "armature")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/armature")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return string(out), err
	}
	return binary, nil
})

// Path returns where the binary is, built from this source.
func Path(t *testing.T) string {
	t.Helper()
	binary, err := buildOnce()
	require.NoError(t, err, binary)
	return binary
}

// Process is a running program.
type Process struct {
	// Log is what it has printed.
	Log *Log

	cmd   *exec.Cmd
	ended chan struct{}
	stuck bool // it didn't stop when it was told to
}

// Start runs armature with these arguments until the test ends, if it isn't stopped or killed before.
func Start(t *testing.T, args ...string) *Process {
	t.Helper()
	return StartProgram(t, Path(t), args...)
}

// StartProgram runs another program in the same way.
func StartProgram(t *testing.T, path string, args ...string) *Process {
	t.Helper()
	name := filepath.Base(path)
	p := &Process{cmd: exec.Command(path, args...), Log: &Log{}, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.Log, p.Log
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Stop()
		if p.stuck {
			t.Errorf("%s %v did not stop within %s; its log has what its goroutines did", name, args, stopTimeout)
		}
		if t.Failed() {
			t.Logf("%s %v said:\n%s", name, args, p.Log)
		}
	})
	return p
}

// Kill ends the process as kill -9 does: it gets no chance to leave cleanly.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Stop ends the process as Kubernetes does: it is told to, and may leave cleanly, giving up its lease.
// One that doesn't is made to say what it is doing, and fails the test.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		p.stuck = true
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.ended
	}
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Log collects what a process prints while the test reads it.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns all of the log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
