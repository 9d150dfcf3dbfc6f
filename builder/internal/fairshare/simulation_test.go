package fairshare

import (
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
}

// ran is the result of a simulation.
type ran struct {
	atOnce, ofOneNamespace int // the most plans at one time
	plans                  map[int]int
	longestWait            map[int]time.Duration
}

// event is the next request of an owner for a slot, or the end of its plan.
type event struct {
	at, asks  time.Time // asks: when the owner asked first
	namespace int
	slot      *Slot // of a plan that ends
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
			e.slot, e.at = nil, e.at.Add(100*time.Microsecond)
			e.asks = e.at
			heap.Push(&next, e)
			continue
		}
		slot, wait := begin(l, fmt.Sprint(e.namespace), e.at)
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
		e.slot, e.at = slot, e.at.Add(b.plan)
		heap.Push(&next, e)
	}
	return result
}

func TestTheSlotsAreUsedInTurn(t *testing.T) {
	for name, b := range map[string]busyNamespaces{
		"plans that wait longer than a namespace counts as expensive": {20, func(int) int { return 20 }, time.Second, 2},
		"plans that take longer than that":                            {3, func(int) int { return 20 }, 12 * time.Second, 2},
		"many namespaces of one owner":                                {100, func(int) int { return 1 }, 10 * time.Millisecond, 2},
		"few namespaces":                                              {2, func(int) int { return 3 }, 10 * time.Millisecond, 2},
		"several slots":                                               {20, func(int) int { return 5 }, 20 * time.Millisecond, 8},
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
	b := busyNamespaces{2, func(n int) int { return 1 + n*2999 }, 50 * time.Millisecond, 2}
	got := b.run(t, time.Minute)
	require.NotZero(t, got.plans[0])
	assert.Less(t, got.longestWait[0], 2*b.plan)
}
