package pods

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/process"
)

// probeOutput is how much of a probe's output is kept.
const probeOutput = 10 * 1024

// output10k runs a command in the container and returns the start of its output.
func (a *attempt) output10k(ctx context.Context, command []string) (string, int, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	defer r.Close()
	p, err := a.exec(command, nil, w, w, false)
	w.Close()
	if err != nil {
		return "", 0, err
	}
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&out, io.LimitReader(r, probeOutput))
		_, _ = io.Copy(io.Discard, r)
	}()
	code := a.wait(ctx, p)
	<-read
	return out.String(), code, nil
}

// exec starts a command in the container's root directory and environment.
func (a *attempt) exec(command []string, stdin, stdout, stderr *os.File, tty bool) (*process.Process, error) {
	if len(command) == 0 {
		return nil, fmt.Errorf("no command to execute")
	}
	args := make([]string, 0, len(command))
	for _, word := range command {
		args = append(args, a.launch.paths.Rewrite(word))
	}
	path, err := process.Lookup(args[0], a.launch.lookPath, a.launch.dir)
	if err != nil {
		return nil, err
	}
	return process.Start(process.Command{
		Path: path, Args: args, Env: a.launch.env, Dir: a.launch.dir,
		Stdin: stdin, Stdout: stdout, Stderr: stderr, TTY: tty,
	})
}

// wait returns the exit code of an executed command. The command is killed when
// ctx ends, and with the container: nothing outlives that.
func (a *attempt) wait(ctx context.Context, p *process.Process) int {
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Signal(syscall.SIGKILL)
	case <-a.ctx.Done():
		p.Signal(syscall.SIGKILL)
	}
	<-p.Done()
	return p.Exit().Code
}
