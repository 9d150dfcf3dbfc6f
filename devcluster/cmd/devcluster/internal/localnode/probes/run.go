package probes

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

// Run probes until ctx ends. It calls report with every change of the probe's
// result, that is when the success or failure threshold is reached, and failed
// with the text of every failing check. initial is the result that is assumed
// before the first, nil for none.
func Run(ctx context.Context, clk clock.WithTicker, p *corev1.Probe, initial *bool,
	check func(context.Context, *corev1.Probe) (bool, string), failed func(text string), report func(healthy bool)) {
	if !pause(ctx, clk, time.Duration(p.InitialDelaySeconds)*time.Second) {
		return
	}
	period := time.Duration(p.PeriodSeconds) * time.Second
	if period <= 0 {
		period = 10 * time.Second
	}
	ticker := clk.NewTicker(period)
	defer ticker.Stop()

	reported := initial
	last, run := false, int32(0) // the latest result, and how many times in a row
	for {
		ok, text := check(ctx, p)
		if ctx.Err() != nil {
			return
		}
		if !ok {
			failed(text)
		}
		if ok != last {
			last, run = ok, 0
		}
		run++
		if (reported == nil || *reported != ok) && run >= threshold(p, ok) {
			reported = &ok
			report(ok)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

func threshold(p *corev1.Probe, ok bool) int32 {
	switch {
	case ok:
		return max(p.SuccessThreshold, 1)
	case p.FailureThreshold > 0:
		return p.FailureThreshold
	}
	return 3
}

func pause(ctx context.Context, clk clock.WithTicker, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := clk.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}
