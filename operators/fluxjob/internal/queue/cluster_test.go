package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// cluster is a world in which decisions are carried out: jobs come, hold their share, end, are told to go and come back.
type cluster struct {
	t       *rapid.T
	state   State
	jobs    map[ID]Job // all that ever came, as they lined up
	evicted int
	ever    map[ID]int // how often each was admitted
	names   int
	shrunk  bool // a quota has
}

func newCluster(t *rapid.T) *cluster {
	c := &cluster{t: t, jobs: map[ID]Job{}, ever: map[ID]int{}, state: State{Now: noon}}
	resources := rapid.IntRange(1, 3).Draw(t, "resources")
	amounts := func(label string, unlimited bool, from, to int64) Amounts {
		a := make(Amounts, resources)
		for r := range a {
			a[r] = rapid.Int64Range(from, to).Draw(t, label)
			if unlimited && rapid.IntRange(0, 2).Draw(t, "unlimited") == 0 {
				a[r] = Unlimited
			}
		}
		return a
	}
	for range rapid.IntRange(1, 3).Draw(t, "setups") {
		c.state.Setups = append(c.state.Setups, Setup{
			Quota: amounts("quota", true, 0, 10), Borrow: amounts("borrow", true, 0, 5), Lend: amounts("lend", true, 0, 10),
			Strict: rapid.Bool().Draw(t, "strict"), Preempts: rapid.Bool().Draw(t, "preempts"),
		})
	}
	if resources > 1 && rapid.Bool().Draw(t, "private") {
		c.state.Private = 1
		for _, s := range c.state.Setups {
			s.Quota[resources-1], s.Borrow[resources-1], s.Lend[resources-1] = rapid.Int64Range(0, 10).Draw(t, "private quota"), 0, 0
		}
	}
	return c
}

func (c *cluster) arrive() {
	c.names++
	resources := len(c.state.Setups[0].Quota)
	j := Job{
		ID: ID{"ns", fmt.Sprintf("j%03d", c.names)}, Setup: rapid.IntRange(0, len(c.state.Setups)-1).Draw(c.t, "setup"),
		Priority: int32(rapid.IntRange(0, 3).Draw(c.t, "priority")), Since: noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(c.t, "since")) * time.Second),
		Needs: make(Amounts, resources),
	}
	for r := range j.Needs {
		j.Needs[r] = rapid.Int64Range(0, 6).Draw(c.t, "needs")
	}
	c.jobs[j.ID] = j
	c.state.Jobs = append(c.state.Jobs, j)
}

// decide carries out decisions, having checked them.
func (c *cluster) decide() Decisions {
	before := c.state
	d := Decide(c.state)
	c.check(d)
	require.Equal(c.t, before, c.state, "the state was changed")
	var waiting []Job
	for _, e := range d.Evicted {
		c.state.Holders[e.Holder].Terminating = true
		j := c.jobs[c.state.Holders[e.Holder].ID]
		j.Terminating = true
		waiting = append(waiting, j)
		c.evicted++
	}
	for i, j := range c.state.Jobs {
		if !slices.Contains(d.Admitted, i) {
			waiting = append(waiting, j)
			continue
		}
		c.ever[j.ID]++
		c.state.Holders = append(c.state.Holders, Holder{ID: j.ID, Setup: j.Setup, Priority: j.Priority, Since: c.state.Now, Holds: j.Needs})
	}
	c.state.Jobs = waiting
	c.state.Now = c.state.Now.Add(time.Second)
	return d
}

// check holds decisions against the rules, in other words than Decide's.
func (c *cluster) check(d Decisions) {
	s := &c.state
	given := make([]Amounts, len(s.Setups)) // in this decision: a quota that has shrunk is exceeded by what was given before
	used := make([]Amounts, len(s.Setups))
	for i := range used {
		used[i] = make(Amounts, len(s.Setups[0].Quota))
		given[i] = make(Amounts, len(s.Setups[0].Quota))
	}
	for _, h := range s.Holders {
		used[h.Setup].plus(h.Holds)
	}
	for _, i := range d.Admitted {
		assert.False(c.t, s.Jobs[i].Terminating, "%s was admitted before it had left", s.Jobs[i].ID)
		used[s.Jobs[i].Setup].plus(s.Jobs[i].Needs)
		given[s.Jobs[i].Setup].plus(s.Jobs[i].Needs)
	}
	for r := range s.Setups[0].Quota {
		var all, lent, lendable int64
		borrowed := false
		for i, setup := range s.Setups {
			quota := setup.Quota[r]
			if quota == Unlimited {
				continue
			}
			lends := min(quota, setup.Lend[r])
			if given[i][r] > 0 {
				assert.LessOrEqual(c.t, used[i][r], sum(quota, setup.Borrow[r]), "setup %d borrows more of %d than it may", i, r)
				borrowed = borrowed || used[i][r] > quota-lends
			}
			all += quota - used[i][r]
			lendable += lends
			lent += max(0, used[i][r]-(quota-lends))
		}
		if !borrowed && c.shrunk {
			continue
		}
		assert.GreaterOrEqual(c.t, all, int64(0), "more of %d is used than there is", r)
		assert.LessOrEqual(c.t, lent, lendable, "more of %d is used than its owners lend", r)
	}
	for _, e := range d.Evicted {
		h := s.Holders[e.Holder]
		require.Equal(c.t, Preempted, e.Cause)
		assert.Less(c.t, h.Priority, s.Jobs[e.For].Priority, "evicted for a job that isn't more important")
		assert.False(c.t, h.Terminating, "evicted twice")
		assert.True(c.t, s.Setups[s.Jobs[e.For].Setup].Preempts)
		c.checkPrivate(s.Jobs[e.For].Setup)
	}
	for i, setup := range s.Setups {
		c.checkOrder(d, i, setup.Strict)
	}
}

// checkPrivate fails if the holders of a setup that preempts exceed what is private to it.
func (c *cluster) checkPrivate(setup int) {
	for r := len(c.state.Setups[setup].Quota) - c.state.Private; r < len(c.state.Setups[setup].Quota); r++ {
		var used int64
		for _, h := range c.state.Holders {
			if h.Setup == setup && !h.Terminating {
				used += h.Holds[r]
			}
		}
		assert.LessOrEqual(c.t, used, c.state.Setups[setup].Quota[r], "setup %d preempts while it has too much of %d", setup, r)
	}
}

// checkOrder fails if the line of a setup isn't in order, or, in a strict one, someone was admitted past another.
func (c *cluster) checkOrder(d Decisions, setup int, strict bool) {
	line := d.Waiting[setup]
	for n := 1; n < len(line); n++ {
		assert.Negative(c.t, c.state.Jobs[line[n-1]].Compare(&c.state.Jobs[line[n]]), "the line isn't in order")
	}
	if !strict || len(line) == 0 {
		return
	}
	for _, i := range d.Admitted {
		if j := &c.state.Jobs[i]; j.Setup == setup {
			assert.Negative(c.t, j.Compare(&c.state.Jobs[line[0]]), "%s was admitted past %s", j.ID, c.state.Jobs[line[0]].ID)
		}
	}
}

// remove takes a holder away.
func (c *cluster) remove(i int) Holder {
	h := c.state.Holders[i]
	c.state.Holders = slices.Delete(slices.Clone(c.state.Holders), i, i+1)
	return h
}

// end takes a holder away that has ended, also out of the line, where it is if it was told to go.
func (c *cluster) end(i int) {
	id := c.remove(i).ID
	c.state.Jobs = slices.DeleteFunc(slices.Clone(c.state.Jobs), func(j Job) bool { return j.ID == id })
}

// requeue lets those who are leaving be gone; they have their places already.
func (c *cluster) requeue() {
	for i, v := range slices.Backward(c.state.Holders) {
		if v.Terminating {
			c.remove(i)
		}
	}
	c.state.Jobs = slices.Clone(c.state.Jobs)
	for i := range c.state.Jobs {
		c.state.Jobs[i].Terminating = false
	}
}

// shrink changes a quota, whatever is held of it.
func (c *cluster) shrink() {
	c.state.Setups = slices.Clone(c.state.Setups)
	setup := &c.state.Setups[rapid.IntRange(0, len(c.state.Setups)-1).Draw(c.t, "shrinks")]
	setup.Quota = slices.Clone(setup.Quota)
	for r := range setup.Quota {
		setup.Quota[r] = rapid.Int64Range(0, 10).Draw(c.t, "quota")
	}
	c.shrunk = true
}

func (c *cluster) isTooLarge(j Job) bool {
	large, _ := newUsage(c.state.Setups, len(j.Needs), c.state.Private).tooLarge(j.Setup, j.Needs)
	return large
}

// plus adds to amounts, in place.
func (a Amounts) plus(b Amounts) {
	for r := range a {
		a[r] += b[r]
	}
}
