package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podlog"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/process"
)

// attempt is one run of a container's command.
type attempt struct {
	number  int32
	launch  *launch
	process *process.Process
	log     *podlog.Log
	drained chan struct{} // closed when the log is complete
	output  *os.File      // the end of the pipe the log is read from
	started time.Time
	// ctx ends with the process, for what depends on it: probes, exec.
	ctx    context.Context
	cancel context.CancelFunc
}

// cannotRunError is a container that will not run however often it is tried.
type cannotRunError struct {
	code    int32
	message string
}

func (e *cannotRunError) Error() string { return e.message }

// attempt waits until the container can be started, runs it until its process is
// gone, and records how it ended. A container that is stopped before it was
// started leaves no result.
func (c *container) attempt() {
	a, err := c.startWhenPossible()
	if err != nil {
		c.endCannotRun(err)
		return
	}
	if a == nil {
		return
	}
	c.pod.host.Events.Event(c.pod.Object(), corev1.EventTypeNormal, eventStarted, "Started container "+c.spec.Name)
	unhealthy := c.watch(a)
	select {
	case <-a.process.Done():
	case <-c.stop():
		c.terminate(a, c.pod.deadline, "Stopping container "+c.spec.Name)
	case u := <-unhealthy:
		c.terminate(a, after(c.pod.host.Clock, u.grace).within(c.pod.deadline), u.message)
	}
	a.cancel()
	a.drain()
	c.end(a)
}

// startWhenPossible prepares and starts the container, and tries again while that
// fails for reasons that can change. It returns neither attempt nor error if the
// container is stopped meanwhile.
func (c *container) startWhenPossible() (*attempt, error) {
	for {
		poked := c.pod.nextPoke()
		if c.isStopping() {
			return nil, nil
		}
		a, reason, err := c.start()
		if err == nil {
			return a, nil
		}
		if _, ok := errors.AsType[*cannotRunError](err); ok {
			return nil, err
		}
		if !c.waitFor(reason, err.Error(), poked) {
			return nil, nil
		}
	}
}

// start starts the next attempt. The reason is what the container waits with if
// that fails.
func (c *container) start() (_ *attempt, reason string, _ error) {
	c.pod.mu.Lock()
	cannot, number := c.pod.cannot, c.attempts
	c.pod.mu.Unlock()
	if cannot != nil {
		return nil, "", &cannotRunError{code: exitCannotRun, message: fmt.Sprintf("container %q: %v", c.spec.Name, cannot)}
	}
	ctx, cancel := c.untilStop()
	defer cancel()
	plan, err := c.plan(ctx, number)
	if err != nil {
		return nil, reasonConfigError, err
	}
	if c.command() == nil {
		return nil, "", noCommand(c.spec)
	}

	select {
	case c.pod.host.Starts <- struct{}{}:
		defer func() { <-c.pod.host.Starts }()
	case <-c.stop():
		return nil, "", errors.New("the container was stopped")
	}
	l, err := plan.realise()
	if err != nil {
		return nil, reasonCreateError, err
	}
	a, err := c.spawn(l, number)
	if err != nil {
		return nil, reasonCreateError, err
	}
	return a, "", nil
}

func (c *container) spawn(l *launch, number int32) (*attempt, error) {
	log, err := podlog.Create(c.file(number, "log"))
	if err != nil {
		return nil, err
	}
	output, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer input.Close()
	p, err := process.Start(process.Command{
		Path: l.path, Args: l.args, Env: l.env, Dir: l.dir,
		Mark:     envRoot + "=" + l.root,
		ExitFile: c.file(number, "exit"), Stdout: input, Stderr: input,
	})
	if err != nil {
		output.Close()
		return nil, err
	}
	a := &attempt{
		number: number, launch: l, process: p, log: log, output: output,
		drained: make(chan struct{}), started: c.pod.host.Clock.Now(),
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	go func() {
		log.Copy(output)
		close(a.drained)
	}()
	c.removeOld(number)
	c.set(func() {
		if c.ended != nil {
			c.last = corev1.ContainerState{Terminated: c.ended}
			c.restarts++
		}
		c.attempts = number + 1
		c.running, c.started, c.ready = a, false, false
		if c.startsAtOnce() {
			c.setStarted()
		}
		c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: c.pod.now()}}
	})
	return a, nil
}

// drain waits for the rest of the output. All writers are gone with the process,
// except, where there are no subreapers, daemons: they are not waited for.
func (a *attempt) drain() {
	select {
	case <-a.drained:
	case <-time.After(time.Second):
		a.output.Close()
		<-a.drained
	}
	a.output.Close()
}

// file is where a thing of an attempt is kept.
func (c *container) file(number int32, thing string) string {
	return filepath.Join(c.dir, fmt.Sprintf("%d.%s", number, thing))
}

// removeOld removes what no one can ask for any more: the API knows the latest
// attempt and the one before.
func (c *container) removeOld(number int32) {
	for _, thing := range []string{"log", "exit", "message"} {
		_ = os.Remove(c.file(number-2, thing))
	}
}
