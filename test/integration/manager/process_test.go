package manager

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var buildOnce = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", err
	}
	root := string(bytes.TrimSpace(out))
	binary := filepath.Join(root, "bin", "armature")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/armature")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return string(out), err
	}
	return binary, nil
})

// armature returns the binary, built from this source.
func armature(t *testing.T) string {
	t.Helper()
	binary, err := buildOnce()
	require.NoError(t, err, binary)
	return binary
}

// process is a running armature.
type process struct {
	cmd *exec.Cmd
	log *safeBuffer
}

// start runs armature with these arguments until the test ends or it is killed.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(armature(t), args...), log: &safeBuffer{}}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("armature %v said:\n%s", args, p.log)
		}
	})
	return p
}

// kill ends the process as kill -9 does: it gets no chance to leave cleanly.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// safeBuffer collects what a process prints while the test reads it.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
