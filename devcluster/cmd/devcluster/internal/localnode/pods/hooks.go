package pods

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// hook runs a postStart or preStop handler.
func (c *container) hook(ctx context.Context, a *attempt, h *corev1.LifecycleHandler, timeout time.Duration) error {
	switch {
	case h.Exec != nil:
		output, code, err := a.output10k(ctx, h.Exec.Command)
		if err == nil && code != 0 {
			err = fmt.Errorf("command %q exited with code %d: %s", h.Exec.Command, code, output)
		}
		return err
	case h.HTTPGet != nil:
		if ok, text := c.target(a).HTTPGet(h.HTTPGet, timeout); !ok {
			return errors.New(text)
		}
		return nil
	case h.Sleep != nil:
		select {
		case <-c.pod.host.Clock.After(time.Duration(h.Sleep.Seconds) * time.Second):
		case <-ctx.Done():
		}
		return nil
	}
	return errors.New("the handler has none of exec, httpGet, sleep")
}

// preStop runs the preStop hook, within the time the container has left.
func (c *container) preStop(a *attempt, d *deadline) {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.hook(ctx, a, c.spec.Lifecycle.PreStop, 30*time.Second); err != nil && ctx.Err() == nil {
			c.event(eventPreStopFailed, fmt.Sprintf("PreStopHook failed: %v", err))
		}
	}()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		select {
		case <-done:
		case <-a.process.Done():
		}
	}()
	d.wait(exited)
}

// stopSignal is the signal that asks the container to end.
func (c *container) stopSignal() syscall.Signal {
	if c.spec.Lifecycle != nil && c.spec.Lifecycle.StopSignal != nil {
		if s := unix.SignalNum(string(*c.spec.Lifecycle.StopSignal)); s != 0 {
			return s
		}
	}
	return syscall.SIGTERM
}
