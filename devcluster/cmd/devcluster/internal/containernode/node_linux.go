package containernode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// stopGrace is how long the node's programs may take to stop. What runs in containers is not asked: as when a
// machine is switched off.
const stopGrace = 3 * time.Second

// Run runs the node until ctx ends, and removes what it made. command is this program's command line for RunInside
// with the same Config, and inherit a descriptor that is kept open as long as anything of the node lives.
func Run(ctx context.Context, c Config, command []string, inherit *os.File) (err error) {
	cgroup := filepath.Join(c.Cgroup, c.Name)
	// An earlier run may have been killed.
	if err := RemoveCgroups(cgroup); err != nil {
		return err
	}
	if err := createCgroups(cgroup); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, RemoveCgroups(cgroup)) }()

	alive, connected := newPipe(), newPipe()
	defer alive.close()
	defer connected.close()
	// The kernel kills the node when the thread that started it ends, which is why this goroutine keeps its own.
	runtime.LockOSThread()
	inside := exec.Command(command[0], command[1:]...)
	inside.Stdin, inside.Stdout, inside.Stderr = alive.read, os.Stdout, os.Stderr
	inside.ExtraFiles = []*os.File{inherit, connected.read}
	inside.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if alive.err != nil || connected.err != nil {
		return errors.Join(alive.err, connected.err)
	}
	if err := inside.Start(); err != nil {
		return fmt.Errorf("start the node's first process: %w", err)
	}
	ended := make(chan struct{})
	var end error
	go func() {
		end = inside.Wait()
		close(ended)
	}()
	if err := c.connectFirst(inside.Process.Pid); err != nil {
		_ = inside.Process.Kill()
		<-ended
		return err
	}
	connected.close()
	select {
	case <-ended:
		return fmt.Errorf("the node's first process ended: %w", orExited(end))
	case <-ctx.Done():
	}
	alive.close()
	select {
	case <-ended:
	case <-time.After(stopGrace):
		_ = inside.Process.Kill()
		<-ended
	}
	return nil
}

// connectFirst does what has to happen before the node configures itself.
func (c Config) connectFirst(pid int) error {
	if err := connect(c.Number, pid); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Dir, pidFileName), []byte(strconv.Itoa(pid)), 0o644)
}

func orExited(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// pipe is a pair of descriptors that may be closed twice.
type pipe struct {
	read, write *os.File
	err         error
}

func newPipe() *pipe {
	read, write, err := os.Pipe()
	return &pipe{read, write, err}
}

func (p *pipe) close() {
	if p.err == nil {
		p.read.Close()
		p.write.Close()
	}
}
