package supervisor

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
)

// stopTimeout is how long a component may take to stop; it stops itself a little earlier (package component).
const stopTimeout = 6 * time.Second

// spec is what to run: a component, its flags and where it can be reached.
type spec struct {
	name string
	// program is what the component runs, if it is not called like it.
	program  string
	args     []string
	env      []string
	endpoint string
	// before runs each time before the component starts; nil means nothing to do.
	before func() error
}

// process is one run of a component.
type process struct {
	cmd *exec.Cmd
	// alive is the writing end of the component's standard input: the component ends when it closes.
	alive *os.File
	log   string
	// logStart is where this run's lines begin in the log.
	logStart int64
	done     chan struct{}
	err      error
}

// startProcess runs the component. lock is inherited, so that it is held as long as the component lives.
func startProcess(sp spec, logFile string, lock *os.File) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%s: find this program: %w", sp.name, err)
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sp.name, err)
	}
	defer log.Close()
	start, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sp.name, err)
	}
	stdin, alive, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sp.name, err)
	}
	defer stdin.Close()

	cmd := exec.Command(exe, append([]string{component.Command, cmp.Or(sp.program, sp.name)}, sp.args...)...)
	cmd.Env = append(os.Environ(), sp.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, log, log
	cmd.ExtraFiles = []*os.File{lock}
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		alive.Close()
		return nil, fmt.Errorf("%s: %w", sp.name, err)
	}
	p := &process{cmd: cmd, alive: alive, log: logFile, logStart: start, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop asks the component to end, makes it end after the timeout, and returns when it has.
func (p *process) stop(timeout time.Duration) {
	p.alive.Close()
	select {
	case <-p.done:
	case <-time.After(timeout):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// exited describes an end that nobody asked for. It is valid after done.
func (p *process) exited() string {
	if p.err == nil {
		return "exited"
	}
	return p.err.Error()
}

// tail returns the last lines this run wrote to its log.
func (p *process) tail(lines int) string {
	f, err := os.Open(p.log)
	if err != nil {
		return ""
	}
	defer f.Close()
	if _, err := f.Seek(p.logStart, io.SeekStart); err != nil {
		return ""
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// ownLog names the log for messages, shorter than its path.
func (p *process) ownLog() string {
	return filepath.Join(filepath.Base(filepath.Dir(p.log)), filepath.Base(p.log))
}
