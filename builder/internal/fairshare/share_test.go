package fairshare

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// plan runs a plan that takes so long.
func plan(t *testing.T, s *Share, namespace string, took time.Duration, now time.Time) {
	require.Zero(t, s.Begin(namespace, now))
	s.End(namespace, took, now)
}

func TestCheapPlansNeverWait(t *testing.T) {
	s := New(2)
	plan(t, s, "busy", time.Second, start)
	plan(t, s, "other", time.Millisecond, start)
	require.Zero(t, s.Begin("busy", start))
	for range 100 {
		assert.Zero(t, s.Begin("other", start), "beside an expensive plan, and beside each other")
	}
}

func TestExpensivePlansRunOneAtATime(t *testing.T) {
	s := New(2)
	for _, namespace := range []string{"a", "b"} {
		plan(t, s, namespace, time.Second, start)
	}
	require.Zero(t, s.Begin("a", start))
	assert.NotZero(t, s.Begin("a", start), "its own plan runs")
	assert.NotZero(t, s.Begin("b", start), "one of two CPUs is for cheap plans")
	s.End("a", time.Second, start)
	assert.Zero(t, s.Begin("b", start))
}

func TestHalfOfTheCPUsAreForExpensivePlans(t *testing.T) {
	s := New(8)
	ran := 0
	for i := range 8 {
		namespace := fmt.Sprint(i)
		plan(t, s, namespace, time.Second, start)
	}
	for i := range 8 {
		if s.Begin(fmt.Sprint(i), start) == 0 {
			ran++
		}
	}
	assert.Equal(t, 4, ran)
}

func TestTheFirstPlanOfANamespaceRunsAlone(t *testing.T) {
	s := New(2)
	require.Zero(t, s.Begin("new", start))
	assert.NotZero(t, s.Begin("new", start), "it isn't known yet how long its plans take")
	s.End("new", time.Millisecond, start)
	assert.Zero(t, s.Begin("new", start))
	assert.Zero(t, s.Begin("new", start))
}

func TestAnExpensiveNamespaceIsForgiven(t *testing.T) {
	s := New(2)
	plan(t, s, "a", time.Second, start)
	later := start.Add(remembered)
	require.Zero(t, s.Begin("a", later))
	assert.Zero(t, s.Begin("a", later))
}

func TestWhoIsPutOffComesBackOneAfterAnother(t *testing.T) {
	s := New(2)
	plan(t, s, "a", time.Second, start)
	require.Zero(t, s.Begin("a", start))
	var before time.Duration
	for range 100 {
		wait := s.Begin("a", start)
		assert.Greater(t, wait, before)
		before = wait
	}
	for range 10_000 {
		assert.LessOrEqual(t, s.Begin("a", start), maxWait)
	}
	s.End("a", time.Second, start)
	require.Zero(t, s.Begin("a", start))
	assert.Equal(t, retryAfter, s.Begin("a", start), "counted again from each plan")
}

// A plan that began when its namespace was cheap ends after another one has made it expensive.
func TestPlansThatBeganBeforeTheLimitAreNotCounted(t *testing.T) {
	s := New(2)
	plan(t, s, "a", 0, start)
	require.Zero(t, s.Begin("a", start))
	require.Zero(t, s.Begin("a", start))
	s.End("a", time.Second, start)
	s.End("a", time.Second, start)
	require.Zero(t, s.running)
	require.Zero(t, s.Begin("a", start))
	require.Equal(t, 1, s.running)
	s.End("a", time.Second, start)
	require.Zero(t, s.running)
}

func TestNamespacesAreForgotten(t *testing.T) {
	s := New(2)
	require.Zero(t, s.Begin("running", start))
	for i := range 3 * maxNamespaces {
		plan(t, s, fmt.Sprint(i), time.Second, start)
	}
	assert.LessOrEqual(t, len(s.namespaces), maxNamespaces)
	assert.NotZero(t, s.Begin("running", start))
}
