package fairshare

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// works returns when the thread has worked for a time.
func works(d time.Duration) {
	for before, _ := ofThread(); ; {
		if now, _ := ofThread(); now-before >= d {
			return
		}
	}
}

// The time of a function is the time that it works, and not the time that it waits for others.
func TestCPUTime(t *testing.T) {
	const work = 30 * time.Millisecond
	assert.GreaterOrEqual(t, CPUTime(func() { works(work) }), work)

	others := make(chan time.Duration)
	begin := make(chan struct{})
	go func() {
		<-begin
		others <- CPUTime(func() { works(work) })
	}()
	var theirs time.Duration
	ours := CPUTime(func() { close(begin); theirs = <-others })
	assert.GreaterOrEqual(t, theirs, work)
	assert.Less(t, ours, work/2)
}
