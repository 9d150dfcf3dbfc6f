package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// setup has a quota of one resource, or of several, and no limits on borrowing and lending.
func setup(quota ...int64) Setup {
	s := Setup{Quota: quota, Borrow: make(Amounts, len(quota)), Lend: make(Amounts, len(quota))}
	for r := range quota {
		s.Borrow[r], s.Lend[r] = Unlimited, Unlimited
	}
	return s
}

func strict(s Setup) Setup   { s.Strict = true; return s }
func preempts(s Setup) Setup { s.Preempts = true; return s }

// job waits since n seconds after noon, n being its number.
func job(n, setup int, priority int32, needs ...int64) Job {
	return Job{ID: ID{"ns", fmt.Sprintf("j%02d", n)}, Setup: setup, Priority: priority, Since: noon.Add(time.Duration(n) * time.Second), Needs: needs}
}

// holder holds since n seconds after noon, n being its number.
func holder(n, setup int, priority int32, holds ...int64) Holder {
	return Holder{ID: ID{"ns", fmt.Sprintf("h%02d", n)}, Setup: setup, Priority: priority, Since: noon.Add(time.Duration(n) * time.Second), Holds: holds}
}

func leaving(h Holder) Holder { h.Terminating = true; return h }

func TestDecide(t *testing.T) {
	limited := func(s Setup, borrow, lend int64) Setup { s.Borrow, s.Lend = Amounts{borrow}, Amounts{lend}; return s }
	returning := func(j Job) Job { j.Terminating = true; return j }
	backingOff := func(j Job) Job { j.NotBefore = noon.Add(time.Minute); return j }
	readyBy := func(h Holder, at time.Time) Holder { h.ReadyBy = at; return h }
	why := func(reasons ...Reason) []Why {
		var all []Why
		for _, r := range reasons {
			all = append(all, Why{Reason: r})
		}
		return all
	}
	held, drained := setup(9), setup(9)
	held.Hold, drained.Drain = true, true

	tests := map[string]struct {
		setups   []Setup
		holders  []Holder
		jobs     []Job
		admitted []int
		evicted  []int // holders
		waiting  [][]int
		why      []Why
		next     time.Time
	}{
		"nothing": {waiting: [][]int{}, why: []Why{}},
		"two of three fit": {
			setups: []Setup{setup(2)}, jobs: []Job{job(1, 0, 0, 1), job(2, 0, 0, 1), job(3, 0, 0, 1)},
			admitted: []int{0, 1}, waiting: [][]int{{2}}, why: why(None, None, WaitingForQuota),
		},
		"order: priority, then time, then name": {
			setups:   []Setup{setup(3)},
			jobs:     []Job{job(2, 0, 0, 1), job(1, 0, 0, 1), job(3, 0, 5, 1), {ID: ID{"ns", "a"}, Since: noon.Add(time.Second), Needs: Amounts{1}}},
			admitted: []int{2, 3, 1}, waiting: [][]int{{0}}, why: why(WaitingForQuota, None, None, None),
		},
		"all or nothing, and of every resource": {
			setups: []Setup{setup(4, 4)}, jobs: []Job{job(1, 0, 0, 3, 1), job(2, 0, 0, 1, 4), job(3, 0, 0, 1, 3)},
			admitted: []int{0, 2}, waiting: [][]int{{1}}, why: []Why{{}, {WaitingForQuota, 1}, {}},
		},
		"strict: who is behind waits": {
			setups: []Setup{strict(setup(4))}, jobs: []Job{job(1, 0, 0, 3), job(2, 0, 0, 2), job(3, 0, 0, 1)},
			admitted: []int{0}, waiting: [][]int{{1, 2}}, why: why(None, WaitingForQuota, BlockedByHead),
		},
		"one that is too large, or backs off, holds up no one": {
			setups: []Setup{strict(setup(4))}, jobs: []Job{job(1, 0, 0, 5), backingOff(job(2, 0, 0, 1)), job(3, 0, 0, 4)},
			admitted: []int{2}, waiting: [][]int{{1}}, why: why(ExceedsMaximum, Backoff, None), next: noon.Add(time.Minute),
		},
		"what is not counted is not limited": {
			setups: []Setup{setup(Unlimited, 1)}, jobs: []Job{job(1, 0, 0, 1<<60, 1), job(2, 0, 0, 1<<60, 0)},
			admitted: []int{0, 1}, waiting: [][]int{nil}, why: why(None, None),
		},
		"a quota that was lowered evicts no one, and lets in only who needs nothing of it": {
			setups: []Setup{setup(1, 9)}, holders: []Holder{holder(1, 0, 0, 5, 0)},
			jobs:     []Job{job(1, 0, 0, 1, 1), job(2, 0, 0, 0, 1)},
			admitted: []int{1}, waiting: [][]int{{0}}, why: why(WaitingForQuota, None),
		},
		"borrows what the other doesn't use": {
			setups: []Setup{setup(2), setup(2)}, holders: []Holder{holder(1, 1, 0, 1)}, jobs: []Job{job(1, 0, 0, 3), job(2, 0, 0, 1)},
			admitted: []int{0}, waiting: [][]int{{1}, nil}, why: why(None, WaitingForQuota),
		},
		"borrows up to its limit": {
			setups: []Setup{limited(setup(2), 1, Unlimited), setup(9)}, jobs: []Job{job(1, 0, 0, 2), job(2, 0, 0, 2), job(3, 0, 0, 1)},
			admitted: []int{0, 2}, waiting: [][]int{{1}, nil}, why: why(None, WaitingForQuota, None),
		},
		"lends up to its limit": {
			setups: []Setup{setup(2), limited(setup(9), Unlimited, 1)}, jobs: []Job{job(1, 0, 0, 4), job(2, 0, 0, 3), job(3, 1, 0, 8)},
			admitted: []int{2, 1}, waiting: [][]int{nil, nil}, why: why(ExceedsMaximum, None, None),
		},
		"who needs no borrowing goes first": {
			setups: []Setup{setup(2), setup(2)}, jobs: []Job{job(1, 0, 9, 3), job(2, 1, 0, 2)},
			admitted: []int{1}, waiting: [][]int{{0}, nil}, why: why(WaitingForQuota, None),
		},
		"room is kept for a strict setup's own": {
			setups: []Setup{strict(setup(4)), setup(0)}, holders: []Holder{holder(1, 1, 0, 2)},
			jobs:    []Job{job(1, 0, 0, 4), job(2, 1, 0, 1)},
			waiting: [][]int{{0}, {1}}, why: why(WaitingForQuota, WaitingForQuota),
		},
		"strict: no one goes before who was evicted for another of the cohort, and is still leaving": {
			setups: []Setup{strict(setup(2)), preempts(setup(2))}, holders: []Holder{leaving(holder(1, 0, 0, 3))},
			jobs:    []Job{job(3, 0, 0, 1), job(2, 1, 9, 2), returning(job(1, 0, 0, 3))},
			waiting: [][]int{{2, 0}, {1}}, why: why(BlockedByHead, Preempting, WaitingForQuota),
		},
		"who was evicted is admitted once it has left, and its room is kept": {
			setups: []Setup{setup(3)}, holders: []Holder{leaving(holder(1, 0, 0, 1))},
			jobs:     []Job{job(1, 0, 0, 2), job(2, 0, 0, 1), returning(job(0, 0, 0, 1))},
			admitted: []int{0}, waiting: [][]int{{2, 1}}, why: why(None, WaitingForQuota, Preempting),
		},
		"never preempts unless told to": {
			setups: []Setup{setup(1)}, holders: []Holder{holder(1, 0, 0, 1)}, jobs: []Job{job(1, 0, 9, 1)},
			waiting: [][]int{{0}}, why: why(WaitingForQuota),
		},
		"preempts lower priorities only": {
			setups: []Setup{preempts(setup(2))}, holders: []Holder{holder(1, 0, 5, 1), holder(2, 0, 5, 1)}, jobs: []Job{job(1, 0, 5, 1)},
			waiting: [][]int{{0}}, why: why(WaitingForQuota),
		},
		"the lowest priority goes, and of these the newest": {
			setups: []Setup{preempts(setup(4))}, jobs: []Job{job(1, 0, 9, 1)},
			holders: []Holder{holder(4, 0, 5, 1), holder(1, 0, 1, 1), holder(3, 0, 1, 1), holder(2, 0, 1, 1)},
			evicted: []int{2}, waiting: [][]int{{0}}, why: why(Preempting),
		},
		"the fewest go": {
			setups: []Setup{preempts(setup(12))}, jobs: []Job{job(1, 0, 9, 6)},
			holders: []Holder{holder(3, 0, 1, 3), holder(2, 0, 1, 3), holder(1, 0, 1, 6)},
			evicted: []int{2}, waiting: [][]int{{0}}, why: why(Preempting),
		},
		"no one goes in vain": {
			setups: []Setup{preempts(setup(4))}, jobs: []Job{job(1, 0, 9, 3)},
			holders: []Holder{holder(1, 0, 9, 2), holder(2, 0, 1, 2)},
			waiting: [][]int{{0}}, why: why(WaitingForQuota),
		},
		"no more go while some are leaving, and their room is kept": {
			setups: []Setup{preempts(setup(2))}, jobs: []Job{job(1, 0, 9, 2), job(2, 0, 0, 1)},
			holders: []Holder{leaving(holder(1, 0, 0, 1))},
			waiting: [][]int{{0, 1}}, why: why(Preempting, WaitingForQuota),
		},
		"takes back what is its own from who borrows it": {
			setups: []Setup{preempts(setup(2)), setup(1)}, jobs: []Job{job(1, 0, 9, 2)},
			holders: []Holder{holder(1, 1, 0, 1), holder(2, 1, 0, 1), holder(3, 1, 0, 1)},
			evicted: []int{2, 1}, waiting: [][]int{{0}, nil}, why: why(Preempting),
		},
		"takes nothing back to borrow it": {
			setups: []Setup{preempts(setup(1)), setup(2)}, jobs: []Job{job(1, 0, 9, 2)},
			holders: []Holder{holder(1, 1, 0, 1), holder(2, 1, 0, 1)},
			waiting: [][]int{{0}, nil}, why: why(WaitingForQuota),
		},
		"takes back what is its own once its own lower ones have gone": {
			setups: []Setup{preempts(setup(4)), setup(0)}, jobs: []Job{job(1, 0, 9, 3)},
			holders: []Holder{holder(1, 0, 0, 2), holder(2, 1, 0, 1), holder(3, 1, 0, 1)},
			evicted: []int{0, 2}, waiting: [][]int{{0}, nil}, why: why(Preempting),
		},
		"takes nothing back if its own higher ones stay": {
			setups: []Setup{preempts(setup(4)), setup(0)}, jobs: []Job{job(1, 0, 9, 3)},
			holders: []Holder{holder(1, 0, 9, 2), holder(2, 1, 0, 1), holder(3, 1, 0, 1)},
			waiting: [][]int{{0}, nil}, why: why(WaitingForQuota),
		},
		"takes back from lower ones rather than from its own higher ones": {
			setups: []Setup{preempts(setup(5)), setup(1)}, jobs: []Job{job(1, 0, 9, 3)},
			holders: []Holder{holder(1, 0, 0, 1), holder(2, 0, 5, 2), holder(3, 1, 0, 3)},
			evicted: []int{0, 2}, waiting: [][]int{{0}, nil}, why: why(Preempting),
		},
		"who isn't ready in time goes": {
			setups: []Setup{setup(9)}, holders: []Holder{readyBy(holder(1, 0, 0, 1), noon), readyBy(holder(2, 0, 0, 1), noon.Add(time.Second))},
			evicted: []int{0}, waiting: [][]int{nil}, why: []Why{}, next: noon.Add(time.Second),
		},
		"held": {
			setups: []Setup{held}, holders: []Holder{holder(1, 0, 0, 1)}, jobs: []Job{job(2, 0, 0, 1), job(1, 0, 0, 1)},
			waiting: [][]int{{1, 0}}, why: why(Stopped, Stopped),
		},
		"drained": {
			setups: []Setup{drained}, holders: []Holder{holder(1, 0, 0, 1), leaving(holder(2, 0, 0, 1))}, jobs: []Job{job(1, 0, 0, 1)},
			evicted: []int{0}, waiting: [][]int{{0}}, why: why(Stopped),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(State{Now: noon, Setups: tt.setups, Holders: tt.holders, Jobs: tt.jobs})
			assert.Equal(t, tt.admitted, d.Admitted, "admitted")
			var evicted []int
			for _, e := range d.Evicted {
				evicted = append(evicted, e.Holder)
			}
			assert.Equal(t, tt.evicted, evicted, "evicted")
			for i := range d.Waiting {
				if len(d.Waiting[i]) == 0 {
					d.Waiting[i] = nil
				}
			}
			assert.Equal(t, tt.waiting, d.Waiting, "waiting")
			assert.Equal(t, tt.why, d.Why, "why")
			assert.Equal(t, tt.next, d.Next, "next")
		})
	}
}

func TestEvictionsSayWhy(t *testing.T) {
	late := holder(1, 0, 0, 1)
	late.ReadyBy = noon
	d := Decide(State{Now: noon, Setups: []Setup{preempts(setup(2))}, Holders: []Holder{late, holder(2, 0, 0, 1)}, Jobs: []Job{job(1, 0, 9, 2)}})
	assert.Equal(t, []Eviction{{Holder: 0, Cause: NotReady, For: -1}, {Holder: 1, Cause: Preempted, For: 0}}, d.Evicted)

	drained := setup(1)
	drained.Drain = true
	d = Decide(State{Now: noon, Setups: []Setup{drained}, Holders: []Holder{holder(1, 0, 0, 1)}})
	assert.Equal(t, []Eviction{{Holder: 0, Cause: Drained, For: -1}}, d.Evicted)
}

func TestBalance(t *testing.T) {
	lends := setup(4, Unlimited)
	lends.Lend[0] = 1
	borrows := setup(2, Unlimited)
	borrows.Borrow[0] = 5
	d := Decide(State{
		Setups:  []Setup{lends, borrows},
		Holders: []Holder{holder(1, 0, 0, 1, 7), leaving(holder(2, 1, 0, 1, 0))},
		Jobs:    []Job{job(1, 1, 0, 1, 0)},
	})
	assert.Equal(t, []int{0}, d.Admitted)
	assert.Equal(t, []Balance{
		{Used: Amounts{1, 7}, Free: Amounts{3, Unlimited}, Maximum: Amounts{6, Unlimited}},
		{Used: Amounts{2, 0}, Free: Amounts{1, Unlimited}, Maximum: Amounts{3, Unlimited}},
	}, d.Balance)
}

// Amounts are bounded, but not how many there are of them: a quota may be set when a resource has been reserved without a limit.
func TestSumsDoNotOverflow(t *testing.T) {
	const huge = 1 << 55
	for _, holders := range []int{255, 256, 257, 511, 512, 3000} {
		t.Run(fmt.Sprint(holders), func(t *testing.T) {
			s := State{Now: noon, Setups: []Setup{preempts(setup(10)), setup(10)}, Jobs: []Job{job(1, 0, 0, 1), job(2, 1, 0, 1), job(3, 0, 1, huge)}}
			for n := range holders {
				s.Holders = append(s.Holders, holder(n, n%2, 1, huge))
			}
			d := Decide(s)
			assert.Empty(t, d.Admitted)
			assert.Empty(t, d.Evicted)
			for _, b := range d.Balance {
				assert.Equal(t, Amounts{0}, b.Free)
				assert.Greater(t, b.Used[0], int64(huge))
			}
		})
	}
}
