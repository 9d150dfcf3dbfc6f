package uiserver

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
	for user := range drawers {
		(&explainer{slots: explaining, user: user, wake: make(chan struct{}, 1)}).ask(ctx, explain)
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

// A user who opens many drawers, and also one whose explanations never end, leaves a slot to the others.
func TestAUserIsExplainedOneObjectAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		slots := newSlots(maxExplanations)
		var now sync.Map
		explain := func(user string) func(context.Context) explained {
			return func(ctx context.Context) explained {
				_, twice := now.LoadOrStore(user, true)
				assert.False(t, twice, user)
				<-ctx.Done()
				now.Delete(user)
				return explained{}
			}
		}
		for range 5 {
			(&explainer{slots: slots, user: "alice", wake: make(chan struct{}, 1)}).ask(ctx, explain("alice"))
		}
		synctest.Wait()
		(&explainer{slots: slots, user: "bob", wake: make(chan struct{}, 1)}).ask(ctx, explain("bob"))
		synctest.Wait()
		_, explained := now.Load("bob")
		assert.True(t, explained)
		cancel()
		synctest.Wait()
		assert.Empty(t, slots.all)
		assert.Empty(t, slots.of)
	})
}

// The slots are those of all viewers, so a request without an answer must not keep one.
func TestAnExplanationThatHangsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		slots, answered := newSlots(1), make(chan struct{}, 1)
		hanging := &explainer{slots: slots, wake: make(chan struct{}, 1)}
		hanging.ask(ctx, func(ctx context.Context) explained {
			<-ctx.Done()
			return unexplained(ctx, ctx.Err())
		})
		synctest.Wait() // it has the slot
		(&explainer{slots: slots, wake: answered}).ask(ctx, func(context.Context) explained { return explained{} })
		began := time.Now()
		select {
		case <-answered:
		case <-time.After(time.Hour):
			t.Fatal("the second viewer has no explanation")
		}
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, "it can't be explained: the API server has not answered all requests within 1m0s", hanging.take().Message)
	})
}
