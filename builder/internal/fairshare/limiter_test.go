package fairshare

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// begin begins a plan and returns its slot, or the delay.
func begin(l *Limiter, namespace string, now time.Time) (*Slot, time.Duration) {
	slot, wait := l.Begin(namespace, now)
	return &slot, wait
}

func wait(l *Limiter, namespace string, now time.Time) time.Duration {
	_, wait := l.Begin(namespace, now)
	return wait
}

// plan runs a plan that takes so long.
func plan(t *testing.T, l *Limiter, namespace string, took time.Duration, now time.Time) {
	slot, wait := begin(l, namespace, now)
	require.Zero(t, wait)
	slot.End(took, now)
	slot.End(time.Hour, now) // of no effect
}

func TestCheapPlansNeverWait(t *testing.T) {
	l := New(2)
	plan(t, l, "busy", time.Second, start)
	plan(t, l, "other", time.Millisecond, start)
	require.Zero(t, wait(l, "busy", start))
	for range 100 {
		assert.Zero(t, wait(l, "other", start), "beside an expensive plan, and beside each other")
	}
}

func TestExpensivePlansRunOneAtATime(t *testing.T) {
	l := New(2)
	for _, namespace := range []string{"a", "b"} {
		plan(t, l, namespace, time.Second, start)
	}
	slot, _ := begin(l, "a", start)
	assert.NotZero(t, wait(l, "a", start), "its own plan runs")
	assert.NotZero(t, wait(l, "b", start), "one of two CPUs is for cheap plans")
	slot.End(time.Second, start)
	assert.Zero(t, wait(l, "b", start))
}

// A namespace with thousands of owners retries much sooner than one with a single owner. It must not take every slot.
func TestExpensiveNamespacesRunInTurn(t *testing.T) {
	l := New(2)
	for _, namespace := range []string{"single", "other", "busy"} {
		plan(t, l, namespace, time.Second, start)
	}
	running, _ := begin(l, "busy", start)
	single, other := wait(l, "single", start), wait(l, "other", start)
	require.NotZero(t, single)
	require.NotZero(t, other)
	running.End(time.Second, start)
	for range 100 {
		require.NotZero(t, wait(l, "busy", start), "others have waited since before")
	}
	require.NotZero(t, wait(l, "other", start), "the second of those that wait")

	running, delay := begin(l, "single", start.Add(single))
	require.Zero(t, delay)
	require.NotZero(t, wait(l, "single", start.Add(single)))
	running.End(time.Second, start.Add(single))
	running, delay = begin(l, "other", start.Add(single))
	require.Zero(t, delay)
	running.End(time.Second, start.Add(single))
	assert.Zero(t, wait(l, "busy", start.Add(single)))
}

func TestALateNamespaceIsOvertakenAndKeepsItsPlace(t *testing.T) {
	l := New(2)
	for _, namespace := range []string{"late", "other", "busy"} {
		plan(t, l, namespace, time.Second, start)
	}
	running, _ := begin(l, "busy", start)
	retry := start.Add(wait(l, "late", start))
	running.End(time.Second, start)
	require.NotZero(t, wait(l, "busy", retry.Add(grace)))
	running, delay := begin(l, "busy", retry.Add(grace+1))
	require.Zero(t, delay)
	require.NotZero(t, wait(l, "other", retry.Add(grace+1)))
	require.NotZero(t, wait(l, "late", retry.Add(2*grace)))
	running.End(time.Second, retry.Add(2*grace))
	require.NotZero(t, wait(l, "other", retry.Add(2*grace)), "late is before it")
	assert.Zero(t, wait(l, "late", retry.Add(2*grace)))
}

// A namespace that observes needs a slot soon. Until then others use it.
func TestANamespaceThatObservesIsOvertakenAndKeepsItsPlace(t *testing.T) {
	l := New(2)
	require.Zero(t, l.Ask("new", start))
	for _, namespace := range []string{"observes", "other", "busy"} {
		plan(t, l, namespace, time.Second, start)
	}
	running, _ := begin(l, "busy", start)
	require.NotZero(t, l.Ask("observes", start), "it waits from now on")
	require.NotZero(t, wait(l, "other", start))
	running.End(time.Second, start)
	require.NotZero(t, wait(l, "busy", start), "others have waited since before")

	now := start.Add(grace)
	require.Zero(t, l.Ask("observes", now))
	require.Zero(t, l.Ask("observes", now), "there is still a free slot")
	running, delay := begin(l, "other", now)
	require.Zero(t, delay, "it may use the slot")
	require.NotZero(t, wait(l, "busy", now))
	now = now.Add(maxWait / 2)
	_, delay = l.BeginObserved("observes", now)
	require.Equal(t, retryAfter, delay)
	_, delay = l.BeginObserved("observes", now)
	require.Equal(t, 2*retryAfter, delay)
	running.End(time.Second, now)
	require.NotZero(t, wait(l, "busy", now), "the one that has observed is before it")
	require.NotZero(t, l.Ask("observes", now), "and the owners that have observed are before others of their namespace")
	_, delay = l.BeginObserved("observes", now)
	assert.Zero(t, delay)
}

// An owner that has observed may be deleted before it retries.
func TestAnOwnerThatIsLateHoldsNoneUp(t *testing.T) {
	l := New(2)
	plan(t, l, "observes", time.Second, start)
	plan(t, l, "busy", time.Second, start)
	running, _ := begin(l, "busy", start)
	_, delay := l.BeginObserved("observes", start)
	require.NotZero(t, delay)
	running.End(time.Second, start)
	require.NotZero(t, l.Ask("observes", start.Add(delay)))
	assert.Zero(t, l.Ask("observes", start.Add(delay+grace+1)))
}

func TestANamespaceThatIsGoneLosesItsPlace(t *testing.T) {
	l := New(2)
	plan(t, l, "gone", time.Second, start)
	plan(t, l, "busy", time.Second, start)
	running, _ := begin(l, "busy", start)
	retry := start.Add(wait(l, "gone", start))
	running.End(time.Second, start)
	require.Zero(t, wait(l, "busy", retry.Add(maxWait+1)))
	assert.Empty(t, l.waiting)
}

// While it waits, and while its own plan runs, a namespace stays expensive, however long that takes.
func TestANamespaceThatWaitsStaysExpensive(t *testing.T) {
	l := New(2)
	plan(t, l, "waits", time.Second, start)
	plan(t, l, "busy", time.Second, start)
	running, _ := begin(l, "busy", start)
	now := start
	for now.Before(start.Add(2 * remembered)) {
		delay := wait(l, "waits", now)
		require.NotZero(t, delay)
		require.NotZero(t, wait(l, "busy", now), "its own plan runs")
		now = now.Add(delay)
	}
	running.End(now.Sub(start), now)
	running, delay := begin(l, "waits", now)
	require.Zero(t, delay)
	require.NotZero(t, wait(l, "waits", now))
	running.End(time.Millisecond, now)
	assert.Zero(t, wait(l, "waits", now), "its last expensive plan was long ago: the next one decides")
}

func TestHalfOfTheCPUsAreForExpensivePlans(t *testing.T) {
	l := New(8)
	ran := 0
	for i := range 8 {
		plan(t, l, fmt.Sprint(i), time.Second, start)
	}
	for i := range 8 {
		if wait(l, fmt.Sprint(i), start) == 0 {
			ran++
		}
	}
	assert.Equal(t, 4, ran)
}

func TestTheFirstPlanOfANamespaceRunsAlone(t *testing.T) {
	l := New(2)
	slot, _ := begin(l, "new", start)
	assert.NotZero(t, wait(l, "new", start), "it isn't known yet how long its plans take")
	slot.End(time.Millisecond, start)
	assert.Zero(t, wait(l, "new", start))
	assert.Zero(t, wait(l, "new", start))
}

func TestANamespaceIsExpensiveForAWhile(t *testing.T) {
	l := New(2)
	plan(t, l, "a", time.Second, start)
	later := start.Add(remembered)
	slot, delay := begin(l, "a", later)
	require.Zero(t, delay)
	require.Zero(t, l.running)
	require.NotZero(t, wait(l, "a", later), "it isn't known yet whether its plans are cheap now")
	slot.End(time.Millisecond, later)
	assert.Zero(t, wait(l, "a", later))
	assert.Zero(t, wait(l, "a", later))
}

func TestAReleasedSlotTeachesNothing(t *testing.T) {
	l := New(2)
	slot, _ := begin(l, "new", start)
	slot.Release()
	slot.End(time.Second, start) // of no effect
	slot, _ = begin(l, "new", start)
	assert.NotZero(t, wait(l, "new", start), "no plan has ended yet")
	slot.End(time.Second, start)
	slot.Release()
	assert.Zero(t, wait(l, "new", start))
}

// A namespace waits for more than the time for which a plan makes it expensive, and its plan then doesn't run.
func TestAReleasedSlotLeavesANamespaceExpensive(t *testing.T) {
	l := New(2)
	plan(t, l, "waits", time.Second, start)
	plan(t, l, "busy", time.Second, start)
	busy, _ := begin(l, "busy", start)
	now := start
	for ; now.Before(start.Add(2 * remembered)); now = now.Add(maxWait / 2) {
		require.NotZero(t, wait(l, "waits", now))
	}
	busy.End(2*remembered, now)
	slot, delay := begin(l, "waits", now)
	require.Zero(t, delay)
	slot.Release()
	require.Zero(t, wait(l, "waits", now))
	assert.NotZero(t, wait(l, "busy", now), "the plan of the other has the only slot")
}

func TestDelayedOwnersRetryOneAfterAnother(t *testing.T) {
	l := New(2)
	plan(t, l, "a", time.Second, start)
	slot, _ := begin(l, "a", start)
	var before time.Duration
	for range 100 {
		delay := wait(l, "a", start)
		assert.Greater(t, delay, before)
		before = delay
	}
	for range 10_000 {
		assert.LessOrEqual(t, wait(l, "a", start), maxWait)
	}
	slot.End(time.Second, start)
	require.Zero(t, wait(l, "a", start))
	assert.Equal(t, retryAfter, wait(l, "a", start), "counted again from each plan")
}

// Passes that end before their plan don't keep a namespace expensive.
func TestReleasedSlotsDontRemember(t *testing.T) {
	l := New(2)
	plan(t, l, "ns", time.Second, start)
	now := start
	for range 4 {
		now = now.Add(remembered / 2)
		slot, delay := begin(l, "ns", now)
		require.Zero(t, delay)
		slot.Release()
	}
	assert.False(t, l.namespaces["ns"].isExpensive(now))
}

// A plan that began when its namespace was cheap ends after another one has made it expensive.
func TestPlansThatBeganBeforeTheLimitAreNotCounted(t *testing.T) {
	l := New(2)
	plan(t, l, "a", 0, start)
	first, _ := begin(l, "a", start)
	second, _ := begin(l, "a", start)
	first.End(time.Second, start)
	second.End(time.Second, start)
	require.Zero(t, l.running)
	third, delay := begin(l, "a", start)
	require.Zero(t, delay)
	require.Equal(t, 1, l.running)
	third.End(time.Second, start)
	require.Zero(t, l.running)
}

func TestNamespacesAreForgotten(t *testing.T) {
	l := New(2)
	require.Zero(t, wait(l, "running", start))
	for i := range 3 * maxNamespaces {
		plan(t, l, fmt.Sprint(i), time.Second, start.Add(time.Duration(i)*remembered/maxNamespaces))
	}
	assert.LessOrEqual(t, len(l.namespaces), maxNamespaces+1)
	assert.NotZero(t, wait(l, "running", start))
}

func TestNamespacesThatWaitedAreForgotten(t *testing.T) {
	l := New(2)
	plan(t, l, "busy", time.Second, start)
	busy, _ := begin(l, "busy", start)
	for i := range maxNamespaces + 1 {
		plan(t, l, fmt.Sprint(i), time.Second, start)
		require.NotZero(t, wait(l, fmt.Sprint(i), start))
	}
	busy.End(time.Second, start)
	require.Zero(t, wait(l, "new", start.Add(time.Hour)))
	assert.Less(t, len(l.namespaces), 10)
	waiting := len(l.waiting) // Empty would print thousands
	assert.Zero(t, waiting)
}

func TestANilLimiterLetsAllRun(t *testing.T) {
	var l *Limiter
	assert.Zero(t, l.Ask("a", start))
	slot, delay := begin(l, "a", start)
	assert.Zero(t, delay)
	slot.End(time.Second, start)
	slot.Release()
}
