package pods

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// isQuiet reports whether the node is stopping: what happens to containers then
// is not their doing, and is not told to anyone.
func (p *Pod) isQuiet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.quiet
}

// watchNode ends the pod when its node stops.
func (p *Pod) watchNode(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ctx.Done():
		p.mu.Lock()
		p.quiet = true
		p.mu.Unlock()
		p.Terminate(shutdownGrace)
	case <-ended:
	}
}

// watchDeadline ends the pod when activeDeadlineSeconds, which may change, are over.
func (p *Pod) watchDeadline(ended <-chan struct{}) {
	for {
		poked := p.nextPoke()
		p.mu.Lock()
		seconds, start := p.object.Spec.ActiveDeadlineSeconds, p.object.Status.StartTime.Time
		p.mu.Unlock()
		var due <-chan time.Time
		if seconds != nil {
			at := start.Add(time.Duration(*seconds) * time.Second)
			due = p.host.Clock.After(at.Sub(p.host.Clock.Now()))
		}
		select {
		case <-due:
			p.mu.Lock()
			p.failure = &failure{reasonDeadline, "Pod was active on the node longer than the specified deadline"}
			p.mu.Unlock()
			p.host.Events.Event(p.Object(), corev1.EventTypeNormal, reasonDeadline, "Pod was active on the node longer than the specified deadline")
			p.Terminate(p.grace())
			return
		case <-poked:
		case <-p.stopping:
			return
		case <-ended:
			return
		}
	}
}
