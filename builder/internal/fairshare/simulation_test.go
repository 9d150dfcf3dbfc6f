package fairshare

import (
	"cmp"
	"container/heap"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// busyNamespaces are namespaces whose owners always have an expensive plan to run.
type busyNamespaces struct {
	namespaces int
	owners     func(namespace int) int
	plan       time.Duration
	cpus       int
	observe    time.Duration // before the plans of the first namespace
}

// ran is the result of a simulation.
type ran struct {
	atOnce, ofOneNamespace int // the most plans at one time
	plans                  map[int]int
	longestWait            map[int]time.Duration
}

// event is the next request of an owner for a slot, or the end of its observation or of its plan.
type event struct {
	at, asks  time.Time // asks: when the owner asked first
	namespace int
	slot      *Slot // of a plan that ends
	observed  bool  // the plan needs no further observation
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// run simulates the owners for some time, after one plan of each namespace. An owner whose plan has ended asks again at once.
func (b busyNamespaces) run(t *testing.T, duration time.Duration) ran {
	l := New(b.cpus)
	var next events
	for n := range b.namespaces {
		plan(t, l, fmt.Sprint(n), b.plan, start)
		for i := range b.owners(n) {
			at := start.Add(time.Duration(i) * time.Microsecond)
			next = append(next, event{at: at, asks: at, namespace: n})
		}
	}
	heap.Init(&next)
	result := ran{plans: map[int]int{}, longestWait: map[int]time.Duration{}}
	running, total := map[int]int{}, 0
	for next[0].at.Before(start.Add(duration)) {
		e := heap.Pop(&next).(event)
		if e.slot != nil {
			e.slot.End(b.plan, e.at)
			running[e.namespace]--
			total--
			result.plans[e.namespace]++
			e.slot, e.observed, e.at = nil, false, e.at.Add(100*time.Microsecond)
			e.asks = e.at
			heap.Push(&next, e)
			continue
		}
		if e.namespace == 0 && b.observe > 0 && !e.observed {
			wait := l.Ask("0", e.at)
			e.observed = wait == 0
			e.at = e.at.Add(cmp.Or(wait, b.observe))
			heap.Push(&next, e)
			continue
		}
		slot, wait := l.begin(fmt.Sprint(e.namespace), e.observed, e.at)
		if wait > 0 {
			e.at = e.at.Add(wait)
			heap.Push(&next, e)
			continue
		}
		running[e.namespace]++
		total++
		result.atOnce = max(result.atOnce, total)
		result.ofOneNamespace = max(result.ofOneNamespace, running[e.namespace])
		result.longestWait[e.namespace] = max(result.longestWait[e.namespace], e.at.Sub(e.asks))
		e.slot, e.at = &slot, e.at.Add(b.plan)
		heap.Push(&next, e)
	}
	return result
}

func TestTheSlotsAreUsedInTurn(t *testing.T) {
	for name, b := range map[string]busyNamespaces{
		"plans that wait longer than a namespace counts as expensive": {20, func(int) int { return 20 }, time.Second, 2, 0},
		"plans that take longer than that":                            {3, func(int) int { return 20 }, 12 * time.Second, 2, 0},
		"many namespaces of one owner":                                {100, func(int) int { return 1 }, 10 * time.Millisecond, 2, 0},
		"few namespaces":                                              {2, func(int) int { return 3 }, 10 * time.Millisecond, 2, 0},
		"several slots":                                               {20, func(int) int { return 5 }, 20 * time.Millisecond, 8, 0},
	} {
		t.Run(name, func(t *testing.T) {
			const duration = 2 * time.Minute
			slots := b.cpus / 2
			got := b.run(t, duration)
			assert.Equal(t, slots, got.atOnce)
			assert.Equal(t, 1, got.ofOneNamespace)
			sum, fewest, most := 0, int(duration), 0
			for n := range b.namespaces {
				sum, fewest, most = sum+got.plans[n], min(fewest, got.plans[n]), max(most, got.plans[n])
			}
			possible := slots * int(duration/b.plan)
			assert.Greater(t, sum, possible*85/100-slots, "a slot is free while others wait for it")
			assert.LessOrEqual(t, most-fewest, 1+most/10, "%v", got.plans)
		})
	}
}

func TestASingleOwnerWaitsForOnePlanOfThousands(t *testing.T) {
	b := busyNamespaces{2, func(n int) int { return 1 + n*2999 }, 50 * time.Millisecond, 2, 0}
	got := b.run(t, time.Minute)
	require.NotZero(t, got.plans[0])
	assert.Less(t, got.longestWait[0], 2*b.plan)
}

// A namespace whose plans need an observation has its turns, although others take each slot that is free meanwhile.
func TestANamespaceThatObservesHasItsTurns(t *testing.T) {
	for name, b := range map[string]busyNamespaces{
		"one owner beside many":                {2, func(n int) int { return 1 + n*500 }, time.Second, 2, 200 * time.Millisecond},
		"many owners":                          {2, func(int) int { return 500 }, time.Second, 2, 200 * time.Millisecond},
		"an observation is longer than a plan": {20, func(int) int { return 5 }, time.Second, 2, 5 * time.Second},
		"a plan is longer than it counts":      {2, func(int) int { return 1 }, 12 * time.Second, 2, 2 * time.Second},
		"several slots":                        {3, func(int) int { return 3 }, 100 * time.Millisecond, 4, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			const duration = 2 * time.Minute
			got := b.run(t, duration)
			for n := 1; n < b.namespaces; n++ {
				assert.GreaterOrEqual(t, 1+3*got.plans[0], got.plans[n], "the other may have a plan during the observation, too: %v", got.plans)
				assert.GreaterOrEqual(t, 1+2*got.plans[n], got.plans[0], "%v", got.plans)
			}
		})
	}
}
