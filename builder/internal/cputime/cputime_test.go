package cputime

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux knows the CPU time of a thread")
	}
	awaits := func() { // 20 ms pass without work
		<-time.After(20 * time.Millisecond)
	}
	assert.Less(t, Of(awaits), 10*time.Millisecond)
	n := 0
	works := func() { // until the CPU has done 5 ms of work
		for before, _ := ofThread(); ; n++ {
			if now, _ := ofThread(); now-before >= 5*time.Millisecond {
				return
			}
		}
	}
	assert.GreaterOrEqual(t, Of(works), 5*time.Millisecond)
	assert.Positive(t, n)
}

// In a process that others keep from the CPUs, the time of others doesn't count.
func TestOfCountsNoOtherGoroutine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux knows the CPU time of a thread")
	}
	var stop atomic.Bool
	done := make(chan struct{})
	defer func() { stop.Store(true); <-done }()
	go func() {
		defer close(done)
		for !stop.Load() {
			runtime.Gosched()
		}
	}()
	assert.Less(t, Of(func() { <-time.After(50 * time.Millisecond) }), 25*time.Millisecond)
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of(func() {})
	}
}
