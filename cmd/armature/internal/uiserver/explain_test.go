package uiserver

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An explanation holds much of a namespace in memory.
func TestAProcessExplainsFewObjectsAtATime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var now, most, ended atomic.Int32
	const drawers = 10
	begun, end := make(chan struct{}, drawers), make(chan struct{})
	explain := func(context.Context) explained {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		begun <- struct{}{}
		<-end
		now.Add(-1)
		ended.Add(1)
		return explained{}
	}
	for range drawers {
		(&explainer{wake: make(chan struct{}, 1)}).ask(ctx, explain)
	}
	for range maxExplanations {
		<-begun // all of the first ones are being made before one ends
	}
	for range drawers {
		end <- struct{}{}
	}
	require.Eventually(t, func() bool { return ended.Load() == drawers }, time.Minute, time.Millisecond)
	assert.Equal(t, int32(maxExplanations), most.Load())
}
