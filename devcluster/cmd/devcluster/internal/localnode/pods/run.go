package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/volumes"
)

const (
	// retryPeriod is how often what waits for objects of the API tries again, in
	// case the change it waits for goes unnoticed.
	retryPeriod = 5 * time.Second
	// shutdownGrace is how long containers get when their node is stopped.
	shutdownGrace = 2 * time.Second
	// firstReport is when a pod is reported at the latest.
	firstReport = 100 * time.Millisecond
	// sidecarGrace is the least that sidecars get after the other containers.
	sidecarGrace = 2 * time.Second
)

// Run runs the pod until it has finished, by itself or after Terminate. When ctx
// ends, the node is being stopped: the containers are stopped without a trace in
// the pod's status, to be continued by the next node.
func (p *Pod) Run(ctx context.Context) {
	defer close(p.done)
	reported := make(chan struct{})
	ended := make(chan struct{})
	var watchers sync.WaitGroup
	watchers.Go(func() { p.watchNode(ctx, ended) })
	watchers.Go(func() { p.watchDeadline(ended) })
	go func() {
		defer close(reported)
		p.report(ended)
	}()

	if p.prepare(ctx) && p.runInit() {
		p.runRegular()
	}
	p.stopSidecars()

	p.mu.Lock()
	p.finished = true
	p.mu.Unlock()
	close(ended)
	<-reported
	watchers.Wait()
}

// report sends the status after every change, and once more at the end. What most
// pods go through within milliseconds, until their first container runs, is left
// out.
func (p *Pod) report(ended <-chan struct{}) {
	select {
	case <-p.dirty:
	case <-ended:
	case <-p.host.Clock.After(firstReport):
	}
	for last := false; ; {
		p.mu.Lock()
		p.setStatus()
		object, quiet := p.object.DeepCopy(), p.quiet
		p.mu.Unlock()
		if !quiet {
			p.notify(object)
		}
		if last {
			return
		}
		select {
		case <-p.dirty:
		case <-ended:
			last = true
		}
	}
}

// prepare makes the pod's directories and volumes. It waits for what is missing,
// and returns false if the pod is stopped meanwhile.
func (p *Pod) prepare(ctx context.Context) bool {
	for reported := ""; ; {
		poked := p.nextPoke()
		if p.isStopping() {
			return false
		}
		err := os.MkdirAll(filepath.Join(p.dir, "containers"), 0o700)
		if err == nil {
			err = p.volumes.Setup(ctx, p.Object())
		}
		var unsupported *volumes.UnsupportedError
		if err == nil || errors.As(err, &unsupported) {
			p.mu.Lock()
			p.prepared = true
			p.cannot = err
			p.mu.Unlock()
			if reported != "" {
				p.setWaitingMessage("")
			}
			return true
		}
		if message := fmt.Sprintf("MountVolume.SetUp failed: %v", err); message != reported && ctx.Err() == nil {
			reported = message
			p.host.Events.Event(p.Object(), corev1.EventTypeWarning, eventFailedMount, message)
			p.setWaitingMessage(message)
		}
		if !p.pause(p.stopping, poked, retryPeriod) {
			return false
		}
	}
}

// setWaitingMessage tells in the containers' states what the whole pod waits for.
func (p *Pod) setWaitingMessage(message string) {
	p.mu.Lock()
	for _, c := range p.all() {
		if w := c.state.Waiting; w != nil {
			c.state.Waiting = &corev1.ContainerStateWaiting{Reason: w.Reason, Message: message}
		}
	}
	p.mu.Unlock()
	p.changed()
}

// runInit runs the init containers one after the other. It returns false if the
// pod is stopped, or if one has failed for good.
func (p *Pod) runInit() bool {
	for _, c := range p.init {
		if c.kind == sidecarKind {
			c.launched = true
			go c.run()
			select {
			case <-c.firstStart:
			case <-c.settled:
				return false
			case <-p.stopping:
				return false
			}
			continue
		}
		c.run()
		if t := c.result(); p.isStopping() || t == nil || t.ExitCode != 0 {
			return false
		}
	}
	return true
}

func (p *Pod) runRegular() {
	var running sync.WaitGroup
	for _, c := range p.regular {
		running.Go(c.run)
	}
	running.Wait()
}

// stopSidecars stops the sidecars that were started, the last one first.
func (p *Pod) stopSidecars() {
	p.deadline.shorten(p.host.Clock.Now().Add(p.grace()))
	p.deadline.atLeast(sidecarGrace)
	for _, c := range slices.Backward(p.init) {

		if c.kind != sidecarKind || !c.launched {
			continue
		}
		close(c.stopSidecar)
		<-c.settled
	}
}

// pause waits for a poke or the time to pass; false means that stop came first.
func (p *Pod) pause(stop, poked <-chan struct{}, d time.Duration) bool {
	timer := p.host.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-stop:
		return false
	case <-poked:
	case <-timer.C():
	}
	return true
}

func (p *Pod) all() []*container {
	return append(append([]*container(nil), p.init...), p.regular...)
}

func (p *Pod) now() metav1.Time { return metav1.NewTime(p.host.Clock.Now()) }
