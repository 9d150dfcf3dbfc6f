package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/creack/pty"
	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/exec"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podlog"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/process"
)

// Exec runs a command in a running container, connected to the streams.
func (p *Pod) Exec(ctx context.Context, container string, command []string, streams api.AttachIO) error {
	a, err := p.attemptOf(container)
	if err != nil {
		return err
	}
	run := a.execPlain
	if streams.TTY() {
		run = a.execTTY
	}
	code, err := run(ctx, command, streams)
	if err != nil {
		return err
	}
	if code != 0 {
		return exec.CodeExitError{Err: fmt.Errorf("command %q exited with code %d", command, code), Code: code}
	}
	return nil
}

// Attach sends a running container's output from now on. There is no input:
// containers of local nodes read from the null device.
func (p *Pod) Attach(ctx context.Context, container string, streams api.AttachIO) error {
	a, err := p.attemptOf(container)
	if err != nil {
		return err
	}
	out := streams.Stdout()
	if out == nil {
		return errdefs.InvalidInput("containers of local nodes have no standard input to attach to")
	}
	none := int64(0)
	path := p.logPath(container, a.number)
	return podlog.Read(ctx, out, path, a.log, &corev1.PodLogOptions{Follow: true, TailLines: &none})
}

func (p *Pod) attemptOf(container string) (*attempt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.all() {
		if c.spec.Name != container {
			continue
		}
		if c.running == nil {
			return nil, errdefs.InvalidInputf("container %q of pod %s is not running", container, p.name)
		}
		return c.running, nil
	}
	return nil, errdefs.NotFoundf("pod %s has no container %q", p.name, container)
}

// execPlain connects the command through pipes: its end of them are files, so the
// command outlives no reader of ours and the streams end when it ends.
func (a *attempt) execPlain(ctx context.Context, command []string, streams api.AttachIO) (int, error) {
	var theirs []*os.File
	closeTheirs := func() {
		for _, f := range theirs {
			f.Close()
		}
	}
	defer closeTheirs()

	var stdin *os.File
	if in := streams.Stdin(); in != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		theirs, stdin = append(theirs, r), r
		go func() {
			_, _ = io.Copy(w, in)
			w.Close()
		}()
	}
	copied := make(chan struct{}, 2)
	copies := 0
	output := func(to io.Writer) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		theirs = append(theirs, w)
		copies++
		go func() {
			_, _ = io.Copy(to, r)
			_, _ = io.Copy(io.Discard, r) // the client is gone, the command need not notice
			r.Close()
			copied <- struct{}{}
		}()
		return w, nil
	}
	var stdout, stderr *os.File
	var err error
	if to := streams.Stdout(); to != nil {
		if stdout, err = output(to); err != nil {
			return 0, err
		}
	}
	if to := streams.Stderr(); to != nil {
		if stderr, err = output(to); err != nil {
			return 0, err
		}
	}
	p, err := a.exec(command, stdin, stdout, stderr, false)
	closeTheirs()
	if err != nil {
		return 0, err
	}
	code := a.wait(ctx, p)
	for range copies {
		<-copied
	}
	return code, nil
}

func (a *attempt) execTTY(ctx context.Context, command []string, streams api.AttachIO) (int, error) {
	terminal, tty, err := pty.Open()
	if err != nil {
		return 0, fmt.Errorf("open a terminal: %w", err)
	}
	defer terminal.Close()
	p, err := a.exec(command, tty, tty, tty, true)
	tty.Close()
	if err != nil {
		return 0, err
	}
	go resize(terminal, streams.Resize(), p)
	if in := streams.Stdin(); in != nil {
		go func() { _, _ = io.Copy(terminal, in) }()
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		if out := streams.Stdout(); out != nil {
			_, _ = io.Copy(out, terminal) // ends with an error when the other side closes
		}
	}()
	code := a.wait(ctx, p)
	select {
	case <-shown:
	case <-time.After(time.Second):
	}
	return code, nil
}

func resize(terminal *os.File, sizes <-chan api.TermSize, p *process.Process) {
	for {
		select {
		case size, ok := <-sizes:
			if !ok {
				return
			}
			if err := pty.Setsize(terminal, &pty.Winsize{Cols: size.Width, Rows: size.Height}); errors.Is(err, os.ErrClosed) {
				return
			}
		case <-p.Done():
			return
		}
	}
}
