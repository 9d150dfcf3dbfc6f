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
	explain := func(context.Context) explained {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		ended.Add(1)
		return explained{}
	}
	const drawers = 10
	for range drawers {
		(&explainer{wake: make(chan struct{}, 1)}).ask(ctx, explain)
	}
	require.Eventually(t, func() bool { return ended.Load() == drawers }, time.Minute, time.Millisecond)
	assert.LessOrEqual(t, most.Load(), int32(2))
}
