package throttle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Owners that fail and wait for each other: each failure counts, however often a pass is postponed.
func TestAPostponedPassKeepsTheBackoff(t *testing.T) {
	retries := NewBackoff()
	queue := NewQueue("test", retries)
	defer queue.ShutDown()
	for range 3 {
		queue.AddRateLimited(reconcile.Request{})
	}
	retries.Postpone(reconcile.Request{})
	queue.Forget(reconcile.Request{})
	assert.Equal(t, 3, queue.NumRequeues(reconcile.Request{}))
	queue.Forget(reconcile.Request{})
	assert.Zero(t, queue.NumRequeues(reconcile.Request{}), "a pass that has run, and succeeded")
}

func TestRetriesBackOffToAMinute(t *testing.T) {
	retries := NewBackoff()
	var waits time.Duration
	for range 13 {
		waits += retries.When(reconcile.Request{})
	}
	assert.Greater(t, waits, 40*time.Second, "13 attempts in the first 40 seconds")
	for range 1000 {
		assert.LessOrEqual(t, retries.When(reconcile.Request{}), time.Minute)
	}
}
