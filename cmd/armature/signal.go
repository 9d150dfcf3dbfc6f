package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// received is the signal that ended a context.
type received struct{ syscall.Signal }

func (r received) Error() string { return r.String() }

// untilSignal returns a context that ends at a signal. A second signal ends the program at once.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			number, _ := s.(syscall.Signal)
			cancel(received{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// endedBySignal returns the signal that made a command fail. Shells expect the exit code 128 + its number, and users know it without a
// message.
func endedBySignal(ctx context.Context, err error) (by syscall.Signal, ok bool) {
	var got received
	if !errors.As(context.Cause(ctx), &got) {
		return 0, false
	}
	return got.Signal, errors.Is(err, context.Canceled) || errors.As(err, &got)
}
