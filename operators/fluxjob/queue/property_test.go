package queue

import (
	"fmt"
	"slices"
	"testing"
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
		c.state.Holders[e.Holder].Leaving = true
		j := c.jobs[c.state.Holders[e.Holder].ID]
		j.Leaving = true
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
		assert.False(c.t, s.Jobs[i].Leaving, "%s was admitted before it had left", s.Jobs[i].ID)
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
		assert.False(c.t, h.Leaving, "evicted twice")
		assert.True(c.t, s.Setups[s.Jobs[e.For].Setup].Preempts)
	}
	for i, setup := range s.Setups {
		c.checkOrder(d, i, setup.Strict)
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
	for i := len(c.state.Holders) - 1; i >= 0; i-- {
		if c.state.Holders[i].Leaving {
			c.remove(i)
		}
	}
	c.state.Jobs = slices.Clone(c.state.Jobs)
	for i := range c.state.Jobs {
		c.state.Jobs[i].Leaving = false
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
	large, _ := newUsage(c.state.Setups, len(j.Needs)).tooLarge(j.Setup, j.Needs)
	return large
}

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
			if why.Reason == MakingRoom {
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
		own := newUsage(c.state.Setups, len(c.state.Setups[0].Quota))
		// Those count who need no borrowing and aren't behind one who does: what is borrowed is never certain.
		patient := slices.DeleteFunc(slices.Clone(c.state.Jobs), func(j Job) bool {
			return slices.ContainsFunc(c.state.Jobs, func(first Job) bool {
				return first.Setup == j.Setup && first.Compare(&j) <= 0 && !c.isTooLarge(first) && own.borrows(first.Setup, first.Needs)
			}) || own.borrows(j.Setup, j.Needs)
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
		p := newPass(&c.state)
		for i := range c.state.Jobs {
			job := &c.state.Jobs[i]
			hopeless, victims := p.isHopeless(job), p.chooseVictims(job)
			if fits, _ := p.soon.fits(job.Setup, job.Needs); fits {
				p.promise(job)
				continue
			}
			if hopeless {
				assert.Empty(t, victims, "for %s", job.ID)
			} else if len(c.state.Setups) == 1 {
				assert.NotEmpty(t, victims, "for %s: in a queue of its own all that may go, go", job.ID)
			}
			p.makeRoom(i)
		}
	})
}
