package containernode

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// restartDelay is how long a program that ended stays down.
const restartDelay = time.Second

// programs are the children of the node's first process: those it keeps running, and every process whose parent ended.
type programs struct {
	mu sync.Mutex
	// ended is told how the process with this PID ended.
	ended    map[int]chan unix.WaitStatus
	stopping bool
}

func newPrograms() *programs { return &programs{ended: map[int]chan unix.WaitStatus{}} }

// reap buries every child that ends, for as long as the node lives. There is no other place where this process waits
// for children: whoever wants to know of one is told.
func (p *programs) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch err {
		case nil:
		case unix.EINTR:
			continue
		default: // there is no child yet
			time.Sleep(20 * time.Millisecond)
			continue
		}
		p.mu.Lock()
		ended := p.ended[pid]
		delete(p.ended, pid)
		p.mu.Unlock()
		if ended != nil {
			ended <- status
		}
	}
}

// start starts the command, and returns where its end is told.
func (p *programs) start(cmd *exec.Cmd) (<-chan unix.WaitStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	_ = cmd.Process.Release()
	ended := make(chan unix.WaitStatus, 1)
	p.ended[pid] = ended
	return ended, nil
}

// run runs the command to its end. Its output goes to the node's own log.
func (p *programs) run(cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	ended, err := p.start(cmd)
	if err != nil {
		return err
	}
	if status := <-ended; status.ExitStatus() != 0 {
		return fmt.Errorf("%s: %s", cmd.Path, describe(status))
	}
	return nil
}

// keep runs a program, with its output in /var/log, and runs it again whenever it ends.
func (p *programs) keep(name string, args ...string) {
	go func() {
		for {
			how, err := p.runLogged(name, args)
			if p.isStopping() {
				return
			}
			if err != nil {
				how = err.Error()
			}
			fmt.Printf("%s: %s; starting it again in %s; its log is %s\n", name, how, restartDelay, logOf(name))
			time.Sleep(restartDelay)
		}
	}()
}

func (p *programs) runLogged(name string, args []string) (how string, err error) {
	log, err := os.OpenFile(logOf(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	ended, err := p.start(cmd)
	if err != nil {
		return "", err
	}
	return describe(<-ended), nil
}

func logOf(name string) string { return "/var/log/" + name + ".log" }

func describe(status unix.WaitStatus) string {
	if status.Signaled() {
		return "killed by " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

func (p *programs) isStopping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopping
}

// stop asks the programs to end, and gives them a little time to write down what they have to.
func (p *programs) stop() {
	p.mu.Lock()
	p.stopping = true
	for pid := range p.ended {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	p.mu.Unlock()
	for deadline := time.Now().Add(stopGrace / 2); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		p.mu.Lock()
		left := len(p.ended)
		p.mu.Unlock()
		if left == 0 {
			return
		}
	}
}
