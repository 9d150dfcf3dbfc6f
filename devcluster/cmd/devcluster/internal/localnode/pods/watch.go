package pods

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/probes"
)

// unhealthy is why a running container has to be restarted.
type unhealthy struct {
	message string
	grace   time.Duration
}

// watch runs the container's postStart hook and then its probes until the attempt
// ends. The channel gets an element when the container has to be killed.
func (c *container) watch(a *attempt) <-chan unhealthy {
	kill := make(chan unhealthy, 4) // each of the senders below sends at most once
	go func() {
		if c.spec.Lifecycle != nil && c.spec.Lifecycle.PostStart != nil {
			if err := c.hook(a.ctx, a, c.spec.Lifecycle.PostStart, time.Hour); err != nil && a.ctx.Err() == nil {
				c.event(eventPostStartFailed, fmt.Sprintf("PostStartHook failed: %v", err))
				kill <- unhealthy{fmt.Sprintf("Container %s failed its postStart hook, will be restarted", c.spec.Name), c.pod.grace()}
				return
			}
		}
		if p := c.spec.StartupProbe; p != nil {
			startup, cancel := context.WithCancel(a.ctx)
			defer cancel()
			passed := false
			c.probe(startup, a, p, "Startup", nil, func(healthy bool) {
				if healthy {
					passed = true
				} else {
					kill <- c.failedProbe(p, "startup")
				}
				cancel()
			})
			if !passed {
				return
			}
		}
		if !c.startsAtOnce() {
			c.markStarted(a)
		}
		var running sync.WaitGroup
		if p := c.spec.LivenessProbe; p != nil {
			running.Go(func() {
				c.probe(a.ctx, a, p, "Liveness", new(true), func(healthy bool) {
					if !healthy {
						kill <- c.failedProbe(p, "liveness")
					}
				})
			})
		}
		if p := c.spec.ReadinessProbe; p != nil {
			running.Go(func() {
				c.probe(a.ctx, a, p, "Readiness", new(false), func(healthy bool) { c.markReady(a, healthy) })
			})
		}
		running.Wait()
	}()
	return kill
}

func (c *container) probe(ctx context.Context, a *attempt, p *corev1.Probe, name string, initial *bool, report func(bool)) {
	target := c.target(a)
	probes.Run(ctx, c.pod.host.Clock, p, initial, target.Check, func(text string) {
		c.event(eventUnhealthy, fmt.Sprintf("%s probe failed: %s", name, text))
	}, report)
}

func (c *container) target(a *attempt) probes.Target {
	return probes.Target{Container: c.spec, PodIP: c.pod.ip, Exec: func(ctx context.Context, command []string) (string, int, error) {
		return a.output10k(ctx, command)
	}}
}

func (c *container) failedProbe(p *corev1.Probe, name string) unhealthy {
	grace := c.pod.grace()
	if s := p.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	return unhealthy{fmt.Sprintf("Container %s failed %s probe, will be restarted", c.spec.Name, name), grace}
}

func (c *container) markStarted(a *attempt) {
	c.set(func() {
		if c.running == a {
			c.setStarted()
		}
	})
}

// setStarted makes a running container started, and ready unless a probe has to
// say so first. The caller holds the mutex.
func (c *container) setStarted() {
	c.started = true
	c.ready = c.spec.ReadinessProbe == nil
	if !isClosed(c.firstStart) {
		close(c.firstStart)
	}
}

// startsAtOnce reports whether nothing has to happen before a running container
// counts as started.
func (c *container) startsAtOnce() bool {
	return c.spec.StartupProbe == nil && (c.spec.Lifecycle == nil || c.spec.Lifecycle.PostStart == nil)
}

func (c *container) markReady(a *attempt, ready bool) {
	c.set(func() {
		if c.running == a {
			c.ready = ready
		}
	})
}

// afterPreStop is the least that a container gets between its preStop hook and SIGKILL, as with the kubelet.
const afterPreStop = 2 * time.Second

// terminate stops a running attempt: the preStop hook, a signal, and SIGKILL when
// the deadline comes first. A hook that uses up the time still leaves afterPreStop,
// unless the node stops. It returns when the process is gone.
func (c *container) terminate(a *attempt, d *deadline, message string) {
	if c.pod.isQuiet() {
		a.process.Discard()
	} else {
		c.pod.host.Events.Event(c.pod.Object(), corev1.EventTypeNormal, eventKilling, message)
	}
	least := after(c.pod.host.Clock, 0)
	if c.spec.Lifecycle != nil && c.spec.Lifecycle.PreStop != nil {
		c.preStop(a, d)
		if !c.pod.isQuiet() {
			least = after(c.pod.host.Clock, afterPreStop)
		}
	}
	a.process.Signal(c.stopSignal())
	if !d.wait(a.process.Done()) && !least.wait(a.process.Done()) {
		a.process.Signal(syscall.SIGKILL)
		<-a.process.Done()
	}
}

func (c *container) event(reason, message string) {
	c.pod.host.Events.Event(c.pod.Object(), corev1.EventTypeWarning, reason, message)
}
