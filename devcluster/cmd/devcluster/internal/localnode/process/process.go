package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/shim"
)

// Command is what to run.
type Command struct {
	// Path is the executable, Args its arguments from argv[0] on.
	Path string
	Args []string
	// Env is the whole environment.
	Env []string
	// Mark is the entry of Env that no other command has; it is how the command's
	// processes are found if their shim is killed. Empty if they need not be.
	Mark string
	// Dir is the working directory.
	Dir string
	// ExitFile is where the shim records the end of the command; empty for nowhere.
	ExitFile string
	// Stdin, Stdout and Stderr are the command's streams; nil is the null device.
	Stdin, Stdout, Stderr *os.File
	// TTY makes Stdin, a terminal, the controlling terminal of the command.
	TTY bool
}

// Process is a command running under a shim.
type Process struct {
	cmd      *exec.Cmd
	exitFile string
	mark     string
	done     chan struct{}
	exit     shim.Exit

	mu       sync.Mutex
	lifeline *os.File // nil once the process has ended
}

// Start starts the command. The caller's own copies of the streams may be closed
// as soon as it returns.
func Start(c Command) (*Process, error) {
	self, err := executable()
	if err != nil {
		return nil, fmt.Errorf("find the executable to run as a shim: %w", err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the lifeline of %s: %w", c.Path, err)
	}
	defer theirs.Close()

	tty := ""
	if c.TTY {
		tty = "tty"
	}
	cmd := exec.Command(self, append([]string{shim.Command, c.ExitFile, tty, c.Dir, c.Path}, c.Args...)...)
	cmd.Args[0] = filepath.Base(os.Args[0]) // for those who look at ps
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	// Assigned one by one: a nil *os.File in an interface would not be nil.
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	cmd.ExtraFiles = []*os.File{theirs}
	// Out of the node's process group, where a Ctrl-C meant for the node would reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start the shim of %s: %w", c.Path, err)
	}

	p := &Process{cmd: cmd, exitFile: c.ExitFile, mark: c.Mark, lifeline: ours, done: make(chan struct{})}
	go p.wait()
	return p, nil
}

func (p *Process) wait() {
	_ = p.cmd.Wait()
	p.mu.Lock()
	p.lifeline.Close()
	p.lifeline = nil
	p.mu.Unlock()
	p.exit = p.readExit()
	close(p.done)
}

// readExit prefers the shim's record to the shim's own exit code: only the record
// tells a signal from a large exit code, and a failed start from either.
func (p *Process) readExit() shim.Exit {
	if p.exitFile != "" {
		if exit, err := shim.ReadExit(p.exitFile); err == nil {
			return exit
		}
	}
	ws := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	exit := shim.Exit{Code: ws.ExitStatus(), Finished: time.Now()}
	if ws.Signaled() { // someone killed the shim, and with it, on Linux, the command
		if p.mark != "" {
			KillMarked(p.mark)
		}
		exit.Signal = int(ws.Signal())
		exit.Code = 128 + exit.Signal
	}
	return exit
}

// Signal sends a signal to the command's process group; SIGKILL ends everything
// the command has started. A process that has ended takes no signals.
func (p *Process) Signal(s syscall.Signal) { p.order(byte(s)) }

// Discard keeps the way the command ends out of its exit file.
func (p *Process) Discard() { p.order(shim.Discard) }

func (p *Process) order(b byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lifeline != nil {
		_, _ = p.lifeline.Write([]byte{b})
	}
}

// Done is closed when the command and everything it started are gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how the command ended; call it after Done is closed.
func (p *Process) Exit() shim.Exit { return p.exit }
