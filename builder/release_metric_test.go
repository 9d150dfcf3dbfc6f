package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/turns"
)

// ownersBy returns a function that counts the owners in a state of the roll-out, by the metric, since the call of ownersBy.
func (f *fleet) ownersBy() func(state string) int {
	value := func(state string) int {
		return int(builder.Metric(f.T, "armature_builder_rollout_owners", map[string]string{"controller": "flow", "state": state}))
	}
	before := map[string]int{}
	for _, state := range []string{"waiting", "in_turn", "halted"} {
		before[state] = value(state)
	}
	return func(state string) int { return value(state) - before[state] }
}

// The metric counts an owner as halted while others wait for a user's decision: no longer once the user has resumed or aborted the
// roll-out, without a pass of the halted owner, and in another process, too.
func TestHaltedOwnersAreCounted(t *testing.T) {
	for name, decide := range map[string]func(*turns.Record){
		"resumed": func(r *turns.Record) { r.Passed = []string{"default/a"} },
		"aborted": func(r *turns.Record) { r.State = turns.Aborted },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a", "b", "c")
			f.runs(one)
			f.now = f.now.Add(time.Hour)
			owners := f.ownersBy()
			f.starts(two)
			f.round()
			f.round()
			assert.Equal(t, 1, owners("in_turn"))
			assert.Equal(t, 2, owners("waiting"))
			f.now = f.now.Add(10 * time.Minute)
			f.round()
			assert.Equal(t, 1, owners("halted"))
			assert.Zero(t, owners("in_turn"))

			f.decide(decide)
			f.pass("b")
			assert.Zero(t, owners("halted"))
			f.pass("a")
			assert.Zero(t, owners("halted"))

			owners = f.ownersBy()
			f.starts(two) // in tests, the counts of the former process remain
			f.round()
			assert.Zero(t, owners("halted"))
			assert.NotZero(t, owners("in_turn"))
		})
	}
}

// An owner that is paused in its turn halts the roll-out as armature rollout status says it: at once, for the next leader, too, and until
// the user decides or ends the pause.
func TestAnOwnerThatIsPausedInItsTurnIsCountedAsHalted(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	owners := f.ownersBy()
	f.starts(two)
	f.round()
	f.round()
	pause := func(value string) {
		flow := f.flow("a")
		flow.Annotations = map[string]string{"armature.dev/paused": value}
		require.NoError(t, f.world.Update(t.Context(), flow))
	}
	pause("true")
	assert.Equal(t, time.Minute, f.pass("a"))
	assert.Equal(t, 1, owners("halted"))
	assert.Zero(t, owners("in_turn"))
	f.decide(func(r *turns.Record) { r.State = turns.Aborted })
	assert.Equal(t, time.Minute, f.pass("a"), "the user may resume the roll-out")
	assert.Zero(t, owners("halted"))
	assert.Equal(t, 1, owners("in_turn"))
	f.decide(func(r *turns.Record) { r.State = turns.Progressing })
	f.pass("a")
	assert.Equal(t, 1, owners("halted"))

	f.starts(two)
	f.pass("a")
	f.round()
	pause("false")
	owners = f.ownersBy() // in tests, the counts of the former process remain
	f.pass("a")
	assert.Equal(t, -1, owners("halted"))
	assert.Equal(t, 1, owners("in_turn"))
}

// An owner that is paused while it waits for its turn waits no longer.
func TestAnOwnerThatIsPausedBeforeItsTurnIsNotCounted(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	owners := f.ownersBy()
	f.starts(two)
	f.round()
	f.round()
	assert.Equal(t, 1, owners("waiting"))
	flow := f.flow("b")
	flow.Annotations = map[string]string{"armature.dev/paused": "true"}
	require.NoError(t, f.world.Update(t.Context(), flow))
	assert.Zero(t, f.pass("b"))
	assert.Zero(t, owners("waiting"))
}

// Without owners that wait, the halted one reads the user's decision itself. A second decision can halt the roll-out again.
func TestAHaltedOwnerReadsTheDecision(t *testing.T) {
	f := newFleet(t, "a")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	owners := f.ownersBy()
	f.starts(two)
	f.round()
	f.round()
	f.now = f.now.Add(10 * time.Minute)
	assert.Equal(t, time.Minute, f.pass("a"))
	assert.Equal(t, 1, owners("halted"))
	f.decide(func(r *turns.Record) { r.State = turns.Aborted })
	assert.Equal(t, time.Minute, f.pass("a"), "the user may resume the roll-out")
	assert.Zero(t, owners("halted"))
	assert.Equal(t, 1, owners("in_turn"))
	f.decide(func(r *turns.Record) { r.State = turns.Progressing })
	f.pass("a")
	assert.Equal(t, 1, owners("halted"))
	f.becomesReady("a")
	assert.Zero(t, f.pass("a"))
	assert.Zero(t, owners("halted"))
	assert.Zero(t, owners("in_turn"))
}
