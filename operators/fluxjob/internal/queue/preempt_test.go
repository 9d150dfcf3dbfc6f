package queue

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// Those for whom room is made get it, once those have left who make it: no one takes it from them meanwhile.
func TestRoomThatIsMadeIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		c.state.Setups = c.state.Setups[:1]
		c.state.Setups[0].Preempts = true
		for range rapid.IntRange(1, 4).Draw(t, "waves") {
			for range rapid.IntRange(1, 6).Draw(t, "jobs") {
				c.arrive()
			}
			c.decide()
			if n := len(c.state.Holders); n > 0 {
				c.end(rapid.IntRange(0, n-1).Draw(t, "ends"))
			}
		}
		jobs := c.state.Jobs
		promised := map[ID]bool{}
		for i, why := range c.decide().Why {
			if why.Reason == Preempting {
				promised[jobs[i].ID] = true
			}
		}
		c.requeue()
		jobs = c.state.Jobs
		for _, i := range c.decide().Admitted {
			delete(promised, jobs[i].ID)
		}
		assert.Empty(t, promised)
	})
}

// Nobody ends and nobody comes: after some evictions there are no more.
func TestPreemptionEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		for i := range c.state.Setups {
			c.state.Setups[i].Preempts = true
		}
		for range rapid.IntRange(1, 4).Draw(t, "waves") {
			for range rapid.IntRange(1, 6).Draw(t, "jobs") {
				c.arrive()
			}
			c.decide()
		}
		for range 10 * len(c.jobs) {
			c.decide()
			c.requeue()
		}
		before := c.evicted
		for range 3 {
			d := c.decide()
			assert.Empty(t, d.Admitted)
			c.requeue()
		}
		assert.Equal(t, before, c.evicted, "evictions go on")
	})
}

// Of one resource, the victims are as few as any that would do with no higher a priority than need be; and none of the
// victims could have stayed.
func TestVictimsAreTheFewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := State{Now: noon, Setups: []Setup{preempts(setup(12))}}
		left := int64(12)
		for n := 0; left > 0; n++ {
			h := holder(n, 0, int32(rapid.IntRange(0, 4).Draw(t, "priority")), rapid.Int64Range(1, min(left, 5)).Draw(t, "holds"))
			left -= h.Holds[0]
			s.Holders = append(s.Holders, h)
		}
		s.Jobs = []Job{job(99, 0, int32(rapid.IntRange(0, 5).Draw(t, "of priority")), rapid.Int64Range(1, 12).Draw(t, "needs"))}
		var gone, highest int64
		for _, e := range Decide(s).Evicted {
			gone += s.Holders[e.Holder].Holds[0]
			highest = max(highest, int64(s.Holders[e.Holder].Priority))
		}
		evicted := len(Decide(s).Evicted)
		fewest, lowest := -1, int64(99)
		for set := range 1 << len(s.Holders) { // all of them
			var frees, top int64
			count := 0
			for i, h := range s.Holders {
				if set&(1<<i) == 0 {
					continue
				}
				if h.Priority >= s.Jobs[0].Priority {
					frees = -99
				}
				frees += h.Holds[0]
				top = max(top, int64(h.Priority))
				count++
			}
			if frees >= s.Jobs[0].Needs[0] && (top < lowest || (top == lowest && count < fewest)) {
				lowest, fewest = top, count
			}
		}
		if fewest < 0 {
			assert.Zero(t, evicted, "evicted in vain")
			return
		}
		assert.Equal(t, fewest, evicted)
		assert.Equal(t, lowest, highest)
		for _, e := range Decide(s).Evicted {
			assert.Less(t, gone-s.Holders[e.Holder].Holds[0], s.Jobs[0].Needs[0], "%s could have stayed", s.Holders[e.Holder].ID)
		}
	})
}

// Who is told at once that there is no one to push out would have found no one; also once others have pushed someone out.
func TestTheHopelessFindNoVictims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		for i := range c.state.Setups {
			c.state.Setups[i].Preempts = true
		}
		for range rapid.IntRange(1, 12).Draw(t, "running") {
			c.arrive()
		}
		c.decide()
		for range rapid.IntRange(1, 12).Draw(t, "waiting") {
			c.arrive()
		}
		p := newRound(&c.state)
		for i := range c.state.Jobs {
			job := &c.state.Jobs[i]
			infeasible, victims := p.isInfeasible(job), p.chooseVictims(job)
			if fits, _ := p.after.fits(job.Setup, job.Needs); fits {
				p.reserve(job)
				continue
			}
			if infeasible {
				assert.Empty(t, victims, "for %s", job.ID)
			} else if len(c.state.Setups) == 1 {
				assert.NotEmpty(t, victims, "for %s: in a queue of its own all that may go, go", job.ID)
			}
			p.preempt(i)
		}
	})
}

// The second amount is private: it is neither lent, borrowed nor reclaimed, and evicts no more than a job needs itself.
func TestPrivateAmounts(t *testing.T) {
	private := func(quota ...int64) Setup {
		s := setup(quota...)
		s.Borrow[1], s.Lend[1] = 0, 0
		return s
	}
	tests := map[string]struct {
		setups   []Setup
		holders  []Holder
		jobs     []Job
		admitted []int
		evicted  []int // holders
		why      []Why
	}{
		"no one lends it": {
			setups: []Setup{private(9, 1), private(9, 9)}, holders: []Holder{holder(1, 0, 0, 1, 1)},
			jobs:     []Job{job(1, 0, 0, 1, 1), job(2, 1, 0, 1, 9)},
			admitted: []int{1}, why: []Why{{WaitingForQuota, 1}, {}},
		},
		"only its own setup's are preempted for it": {
			setups:  []Setup{preempts(private(9, 2)), private(0, 9)},
			holders: []Holder{holder(1, 0, 5, 1, 1), holder(2, 0, 4, 1, 1), holder(3, 1, 0, 1, 1)}, jobs: []Job{job(1, 0, 9, 1, 1)},
			evicted: []int{1}, why: []Why{{Reason: Preempting}},
		},
		"what another setup lent is taken back beside it": {
			setups:  []Setup{preempts(private(4, 1)), private(0, 9)},
			holders: []Holder{holder(1, 0, 5, 1, 1), holder(2, 1, 0, 3, 1)}, jobs: []Job{job(1, 0, 9, 3, 1)},
			evicted: []int{0, 1}, why: []Why{{Reason: Preempting}},
		},
		"a setup that has too much of it doesn't borrow": {
			setups:  []Setup{preempts(private(2, 9)), private(2, 1), private(0, 9)},
			holders: []Holder{holder(1, 0, 9, 1, 1), holder(2, 1, 0, 1, 1), holder(3, 1, 0, 1, 1), holder(4, 2, 9, 1, 1)},
			jobs:    []Job{job(1, 0, 9, 1, 1)}, why: []Why{{WaitingForQuota, 0}},
		},
		"a setup that lacks it goes before those that borrow": {
			setups:  []Setup{preempts(private(3, 1)), private(0, 9)},
			holders: []Holder{holder(1, 0, 0, 1, 1)}, jobs: []Job{job(2, 0, 9, 2, 1), job(1, 1, 9, 2, 1)},
			evicted: []int{0}, why: []Why{{Reason: Preempting}, {WaitingForQuota, 0}},
		},
		"a setup that has too much of it preempts for no one": {
			setups:  []Setup{preempts(private(9, 1))},
			holders: []Holder{holder(1, 0, 0, 1, 1), holder(2, 0, 0, 1, 1)}, jobs: []Job{job(1, 0, 9, 1, 1), job(2, 0, 9, 9, 0)},
			why: []Why{{WaitingForQuota, 1}, {WaitingForQuota, 0}},
		},
		"it preempts again as soon as enough terminate": {
			setups:  []Setup{preempts(private(9, 1))},
			holders: []Holder{holder(1, 0, 0, 1, 1), leaving(holder(2, 0, 0, 1, 1))}, jobs: []Job{job(1, 0, 9, 1, 1)},
			evicted: []int{0}, why: []Why{{Reason: Preempting}},
		},
		"strict: the first waits for it, and keeps nothing from other setups": {
			setups: []Setup{strict(private(4, 1)), private(0, 9)}, holders: []Holder{holder(1, 0, 0, 1, 1)},
			jobs:     []Job{job(1, 0, 0, 1, 1), job(2, 0, 0, 1, 0), job(3, 1, 0, 3, 1)},
			admitted: []int{2}, why: []Why{{WaitingForQuota, 1}, {Reason: BlockedByHead}, {}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(State{Now: noon, Setups: tt.setups, Holders: tt.holders, Jobs: tt.jobs, Private: 1})
			var evicted []int
			for _, e := range d.Evicted {
				evicted = append(evicted, e.Holder)
			}
			assert.Equal(t, tt.admitted, d.Admitted, "admitted")
			assert.ElementsMatch(t, tt.evicted, evicted, "evicted")
			assert.Equal(t, tt.why, d.Why, "why")
		})
	}
}

// What would be held without the holders within reach is counted once for all jobs that reach the same holders, whatever their priorities.
func TestJobsOfTheSameReachShareItsCount(t *testing.T) {
	s := State{Setups: []Setup{{Quota: Amounts{10}, Borrow: Amounts{0}, Lend: Amounts{0}, Preempts: true}}}
	for i, priority := range []int32{0, 500, 500, math.MaxInt32} {
		s.Holders = append(s.Holders, Holder{ID: ID{Name: fmt.Sprint("h", i)}, Priority: priority, Holds: Amounts{2}})
	}
	rd := newRound(&s)
	for priority := range int32(1000) {
		assert.True(t, rd.isInfeasible(&Job{Priority: priority - 1, Needs: Amounts{11}}))
	}
	assert.Len(t, rd.without, 3, "without none, the first, and the first three")
	for priority, fits := range map[int32]int64{0: 2, 1: 4, 500: 4, 501: 8, math.MaxInt32: 8} {
		assert.False(t, rd.isInfeasible(&Job{Priority: priority, Needs: Amounts{fits}}), priority)
		assert.True(t, rd.isInfeasible(&Job{Priority: priority, Needs: Amounts{fits + 1}}), priority)
	}
}
