package fairshare

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// begin begins a plan and returns its turn, or how long it is put off.
func begin(s *Share, namespace string, now time.Time) (*Turn, time.Duration) {
	turn, wait := s.Begin(namespace, now)
	return &turn, wait
}

func wait(s *Share, namespace string, now time.Time) time.Duration {
	_, wait := s.Begin(namespace, now)
	return wait
}

// plan runs a plan that takes so long.
func plan(t *testing.T, s *Share, namespace string, took time.Duration, now time.Time) {
	turn, wait := begin(s, namespace, now)
	require.Zero(t, wait)
	turn.End(took, now)
	turn.End(time.Hour, now) // of no effect
}

func TestCheapPlansNeverWait(t *testing.T) {
	s := New(2)
	plan(t, s, "busy", time.Second, start)
	plan(t, s, "other", time.Millisecond, start)
	require.Zero(t, wait(s, "busy", start))
	for range 100 {
		assert.Zero(t, wait(s, "other", start), "beside an expensive plan, and beside each other")
	}
}

func TestExpensivePlansRunOneAtATime(t *testing.T) {
	s := New(2)
	for _, namespace := range []string{"a", "b"} {
		plan(t, s, namespace, time.Second, start)
	}
	turn, _ := begin(s, "a", start)
	assert.NotZero(t, wait(s, "a", start), "its own plan runs")
	assert.NotZero(t, wait(s, "b", start), "one of two CPUs is for cheap plans")
	turn.End(time.Second, start)
	assert.Zero(t, wait(s, "b", start))
}

// A namespace with thousands of owners asks again much sooner than one with a single owner. It must not take every turn.
func TestExpensiveNamespacesTakeTurns(t *testing.T) {
	s := New(2)
	for _, namespace := range []string{"single", "other", "busy"} {
		plan(t, s, namespace, time.Second, start)
	}
	running, _ := begin(s, "busy", start)
	single, other := wait(s, "single", start), wait(s, "other", start)
	require.NotZero(t, single)
	require.NotZero(t, other)
	running.End(time.Second, start)
	for range 100 {
		require.NotZero(t, wait(s, "busy", start), "others have waited since before")
	}
	require.NotZero(t, wait(s, "other", start), "the second in line")

	running, putOff := begin(s, "single", start.Add(single))
	require.Zero(t, putOff)
	require.NotZero(t, wait(s, "single", start.Add(single)))
	running.End(time.Second, start.Add(single))
	running, putOff = begin(s, "other", start.Add(single))
	require.Zero(t, putOff)
	running.End(time.Second, start.Add(single))
	assert.Zero(t, wait(s, "busy", start.Add(single)))
}

func TestATurnThatNoOneTakesLapses(t *testing.T) {
	s := New(2)
	plan(t, s, "deleted", time.Second, start)
	plan(t, s, "busy", time.Second, start)
	running, _ := begin(s, "busy", start)
	due := start.Add(wait(s, "deleted", start))
	running.End(time.Second, start)
	require.NotZero(t, wait(s, "busy", due.Add(grace)))
	assert.Zero(t, wait(s, "busy", due.Add(grace+1)))
}

func TestANamespaceThatIsForgivenLeavesTheLine(t *testing.T) {
	s := New(2)
	plan(t, s, "forgiven", time.Second, start)
	plan(t, s, "busy", time.Second, start.Add(time.Second))
	running, _ := begin(s, "busy", start.Add(time.Second))
	require.NotZero(t, wait(s, "forgiven", start.Add(remembered-1)))
	require.Zero(t, wait(s, "forgiven", start.Add(remembered)))
	running.End(time.Second, start.Add(remembered))
	assert.Zero(t, wait(s, "busy", start.Add(remembered)))
}

func TestHalfOfTheCPUsAreForExpensivePlans(t *testing.T) {
	s := New(8)
	ran := 0
	for i := range 8 {
		plan(t, s, fmt.Sprint(i), time.Second, start)
	}
	for i := range 8 {
		if wait(s, fmt.Sprint(i), start) == 0 {
			ran++
		}
	}
	assert.Equal(t, 4, ran)
}

func TestTheFirstPlanOfANamespaceRunsAlone(t *testing.T) {
	s := New(2)
	turn, _ := begin(s, "new", start)
	assert.NotZero(t, wait(s, "new", start), "it isn't known yet how long its plans take")
	turn.End(time.Millisecond, start)
	assert.Zero(t, wait(s, "new", start))
	assert.Zero(t, wait(s, "new", start))
}

func TestAnExpensiveNamespaceIsForgiven(t *testing.T) {
	s := New(2)
	plan(t, s, "a", time.Second, start)
	later := start.Add(remembered)
	require.Zero(t, wait(s, "a", later))
	assert.Zero(t, wait(s, "a", later))
}

func TestWhoIsPutOffComesBackOneAfterAnother(t *testing.T) {
	s := New(2)
	plan(t, s, "a", time.Second, start)
	turn, _ := begin(s, "a", start)
	var before time.Duration
	for range 100 {
		putOff := wait(s, "a", start)
		assert.Greater(t, putOff, before)
		before = putOff
	}
	for range 10_000 {
		assert.LessOrEqual(t, wait(s, "a", start), maxWait)
	}
	turn.End(time.Second, start)
	require.Zero(t, wait(s, "a", start))
	assert.Equal(t, retryAfter, wait(s, "a", start), "counted again from each plan")
}

// A plan that began when its namespace was cheap ends after another one has made it expensive.
func TestPlansThatBeganBeforeTheLimitAreNotCounted(t *testing.T) {
	s := New(2)
	plan(t, s, "a", 0, start)
	first, _ := begin(s, "a", start)
	second, _ := begin(s, "a", start)
	first.End(time.Second, start)
	second.End(time.Second, start)
	require.Zero(t, s.running)
	third, putOff := begin(s, "a", start)
	require.Zero(t, putOff)
	require.Equal(t, 1, s.running)
	third.End(time.Second, start)
	require.Zero(t, s.running)
}

func TestNamespacesAreForgotten(t *testing.T) {
	s := New(2)
	require.Zero(t, wait(s, "running", start))
	for i := range 3 * maxNamespaces {
		plan(t, s, fmt.Sprint(i), time.Second, start)
	}
	assert.LessOrEqual(t, len(s.namespaces), maxNamespaces)
	assert.NotZero(t, wait(s, "running", start))
}

func TestWithoutAShareAllRun(t *testing.T) {
	var s *Share
	turn, putOff := begin(s, "a", start)
	assert.Zero(t, putOff)
	turn.End(time.Second, start)
}
