package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestQuotaIsNeverExceededAndEveryoneGetsATurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		t.Repeat(map[string]func(*rapid.T){
			"arrive": func(*rapid.T) { c.arrive() },
			"decide": func(*rapid.T) { c.decide() },
			"leave":  func(*rapid.T) { c.requeue() },
			"shrink": func(*rapid.T) { c.shrink() },
			"end": func(t *rapid.T) {
				if n := len(c.state.Holders); n > 0 {
					c.end(rapid.IntRange(0, n-1).Draw(t, "holder"))
				}
			},
		})
		// No one comes any more, and the others end: everyone who could ever run has run.
		for range 4*len(c.jobs) + 4 {
			c.decide()
			c.requeue()
			if n := len(c.state.Holders); n > 0 {
				c.end(rapid.IntRange(0, n-1).Draw(t, "ends"))
			}
		}
		for _, j := range c.state.Jobs {
			assert.True(t, c.isTooLarge(j), "%s still waits", j.ID)
		}
	})
}

// In a strict queue a job that needs no borrowing is admitted whoever comes after it, and whoever borrows.
func TestNoOneStarvesInAStrictQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		for i := range c.state.Setups {
			c.state.Setups[i].Strict, c.state.Setups[i].Preempts = true, false
		}
		for range rapid.IntRange(1, 8).Draw(t, "jobs") {
			c.arrive()
		}
		c.decide()
		own := newUsage(c.state.Setups, len(c.state.Setups[0].Quota), c.state.Private)
		// Those count who need no borrowing and aren't behind one who does: what is borrowed is never certain.
		patient := slices.DeleteFunc(slices.Clone(c.state.Jobs), func(j Job) bool {
			return slices.ContainsFunc(c.state.Jobs, func(first Job) bool {
				return first.Setup == j.Setup && first.Compare(&j) <= 0 && !c.isTooLarge(first) && own.exceeds(first.Setup, first.Needs)
			}) || own.exceeds(j.Setup, j.Needs)
		})
		for range 3*len(c.jobs) + 3 {
			for setup := range c.state.Setups { // small ones, all of the time
				c.names++
				j := Job{ID: ID{"ns", fmt.Sprintf("small%03d", c.names)}, Setup: setup, Since: c.state.Now.Add(time.Hour), Needs: make(Amounts, len(own.pool))}
				j.Needs[0] = 1
				c.jobs[j.ID] = j
				c.state.Jobs = append(c.state.Jobs, j)
			}
			c.decide()
			slices.SortStableFunc(c.state.Holders, func(a, b Holder) int { return a.Since.Compare(b.Since) })
			if len(c.state.Holders) > 0 { // the oldest end
				oldest := c.state.Holders[0].Since
				for len(c.state.Holders) > 0 && c.state.Holders[0].Since.Equal(oldest) {
					c.end(0)
				}
			}
		}
		for _, j := range patient {
			assert.Equal(t, 1, c.ever[j.ID], "%s of priority %d since %s is still waiting", j.ID, j.Priority, j.Since)
		}
	})
}

func TestTheOrderOfTheInputMeansNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		for range rapid.IntRange(0, 8).Draw(t, "running") {
			c.arrive()
		}
		c.decide()
		for range rapid.IntRange(0, 8).Draw(t, "waiting") {
			c.arrive()
		}
		type outcome struct {
			admitted, evicted []ID
			waiting           [][]ID
			why               map[ID]Why
			balance           []Balance
		}
		run := func(s State) outcome {
			d := Decide(s)
			o := outcome{why: map[ID]Why{}, balance: d.Balance}
			for _, i := range d.Admitted {
				o.admitted = append(o.admitted, s.Jobs[i].ID)
			}
			for _, e := range d.Evicted {
				o.evicted = append(o.evicted, s.Holders[e.Holder].ID)
			}
			for _, line := range d.Waiting {
				var ids []ID
				for _, i := range line {
					ids = append(ids, s.Jobs[i].ID)
				}
				o.waiting = append(o.waiting, ids)
			}
			for i, why := range d.Why {
				o.why[s.Jobs[i].ID] = why
			}
			return o
		}
		want := run(c.state)
		mixed := c.state
		mixed.Jobs = rapid.Permutation(c.state.Jobs).Draw(t, "jobs")
		mixed.Holders = rapid.Permutation(c.state.Holders).Draw(t, "holders")
		assert.Equal(t, want, run(mixed))
	})
}
