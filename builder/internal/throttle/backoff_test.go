package throttle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

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
