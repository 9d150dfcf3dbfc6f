package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counters is a system of counters that go up to a limit, one step each, in any order. The step of a counter that is in loops begins
// again at the limit.
type counters struct {
	limits map[string]int
	loops  map[string]bool
	fault  bool // each step may also count twice
	check  func(state string) error
}

var errBad = errors.New("bad")

func (c counters) Start() (string, error) {
	return c.text(map[string]int{}), nil
}

// text is a state as a text: "a=1 b=0".
func (c counters) text(at map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.limits)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, at[name]))
	}
	return strings.Join(parts, " ")
}

func (c counters) parse(s string) map[string]int {
	at := map[string]int{}
	for part := range strings.FieldsSeq(s) {
		var n int
		name, value, _ := strings.Cut(part, "=")
		_, _ = fmt.Sscan(value, &n)
		at[name] = n
	}
	return at
}

func (c counters) Hash(s string) Hash {
	var h Hash
	for i, b := range []byte(s) {
		h[i%2] = h[i%2]*257 + uint64(b)
	}
	return h
}

func (c counters) Steps(s string) ([]string, bool, error) {
	var steps []string
	at := c.parse(s)
	for _, name := range slices.Sorted(maps.Keys(c.limits)) {
		if at[name] < c.limits[name] || c.loops[name] {
			steps = append(steps, name)
		}
	}
	return steps, len(steps) == 0, nil
}

func (c counters) Do(s, step string) ([]Outcome[string], error) {
	outcome := func(name string, n int) Outcome[string] {
		at := c.parse(s)
		at[step] = min(at[step]+n, c.limits[step])
		if c.loops[step] {
			at[step] = (c.parse(s)[step] + n) % c.limits[step]
		}
		o := Outcome[string]{Name: name, State: c.text(at), Wrote: c.loops[step]}
		if c.check != nil {
			o.Err = c.check(o.State)
		}
		return o
	}
	outcomes := []Outcome[string]{outcome(step, 1)}
	if c.fault {
		outcomes = append(outcomes, outcome(step+" twice", 2))
	}
	return outcomes, nil
}

func (c counters) Independent(_, a, b string) bool { return a != b }

func (c counters) Rest(string) error { return nil }

// dependent is a system without any independence.
type dependent struct{ counters }

func (dependent) Independent(_, _, _ string) bool { return false }

var wide = Limits{Depth: 100, States: 10000}

func TestExhaustVisitsEachStateOnce(t *testing.T) {
	c := counters{limits: map[string]int{"a": 3, "b": 2, "c": 4}}
	stats, failure, err := Exhaust(t.Context(), c, wide)
	require.NoError(t, err)
	assert.Nil(t, failure)
	assert.Equal(t, 4*3*5, stats.States)
	assert.Equal(t, 1, stats.Ends)
	assert.Equal(t, 9, stats.Depth)
	assert.False(t, stats.Cut)

	all, _, err := Exhaust(t.Context(), dependent{c}, wide)
	require.NoError(t, err)
	assert.Equal(t, stats.States, all.States, "sleep sets save steps, not states")
	assert.Zero(t, all.Slept)
	assert.Less(t, stats.Steps, all.Steps*2/3)
}

func TestExhaustFindsEveryBadState(t *testing.T) {
	for _, bad := range []string{"a=2 b=1", "a=0 b=3", "a=3 b=3"} {
		for _, system := range []func(counters) System[string]{
			func(c counters) System[string] { return c }, func(c counters) System[string] { return dependent{c} },
		} {
			_, failure, err := Exhaust(t.Context(), system(counters{limits: map[string]int{"a": 3, "b": 3}, check: func(s string) error {
				if s == bad {
					return errBad
				}
				return nil
			}}), wide)
			require.NoError(t, err)
			require.NotNil(t, failure, bad)
			assert.ErrorIs(t, failure, errBad)
		}
	}
}

func TestExhaustFindsCircles(t *testing.T) {
	_, failure, err := Exhaust(t.Context(), counters{limits: map[string]int{"a": 2, "b": 3}, loops: map[string]bool{"b": true}}, wide)
	require.NoError(t, err)
	require.NotNil(t, failure)
	var circle Circle
	require.ErrorAs(t, failure, &circle)
	assert.Equal(t, Circle(3), circle)
	assert.Equal(t, []string{"a", "a", "b", "b", "b"}, failure.Trace)
}

func TestExhaustSaysThatItWasCut(t *testing.T) {
	c := counters{limits: map[string]int{"a": 5, "b": 5}}
	for _, limits := range []Limits{{Depth: 3, States: 1000}, {Depth: 100, States: 7}} {
		stats, _, err := Exhaust(t.Context(), c, limits)
		require.NoError(t, err)
		assert.True(t, stats.Cut)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Exhaust(ctx, c, wide)
	assert.ErrorIs(t, err, context.Canceled)
}

// threeTwice is a system that fails with three faults of b.
func threeTwice() counters {
	return counters{limits: map[string]int{"a": 4, "b": 6}, fault: true, check: func(s string) error {
		if strings.HasSuffix(s, "b=6") && strings.HasPrefix(s, "a=0") {
			return errBad
		}
		return nil
	}}
}

func TestShrink(t *testing.T) {
	long := &Failure{Trace: []string{"b", "b", "b", "b", "b", "b"}, Err: errBad}
	short, err := Shrink(System[string](threeTwice()), long, 100, func(f *Failure) bool { return errors.Is(f, errBad) })
	require.NoError(t, err)
	assert.Equal(t, long.Trace, short.Trace, "nothing can be left out")

	long.Trace = []string{"b twice", "b", "b", "b", "b", "a", "a twice"}
	short, err = Shrink(System[string](threeTwice()), long, 100, func(f *Failure) bool { return errors.Is(f, errBad) })
	require.NoError(t, err)
	assert.Equal(t, []string{"b twice", "b", "b", "b", "b"}, short.Trace)
}

func TestFollow(t *testing.T) {
	c := threeTwice()
	failure, err := Follow(System[string](c), []string{"b twice", "b twice", "b twice"}, 100, false)
	require.NoError(t, err)
	require.NotNil(t, failure)
	failure, err = Follow(System[string](c), []string{"a"}, 100, false)
	require.NoError(t, err)
	assert.Nil(t, failure, "it runs on with the first step")
	_, err = Follow(System[string](c), []string{"a", "z"}, 100, false)
	assert.EqualError(t, err, "\"z\" can't happen after\n  1. a\nwhat can happen there:\n     a\n     a twice\n     b\n     b twice\n")
	_, err = Follow(System[string](c), []string{"a", "z"}, 100, true)
	assert.NoError(t, err)
}

func TestWalk(t *testing.T) {
	c := counters{limits: map[string]int{"a": 3, "b": 3}}
	walks := Walks{Number: 60, Seed: 1, Depth: 100}
	stats, failure, err := Walk(t.Context(), c, walks)
	require.NoError(t, err)
	assert.Nil(t, failure)
	assert.Greater(t, stats.States, 12)
	again, _, err := Walk(t.Context(), c, walks)
	require.NoError(t, err)
	assert.Equal(t, stats, again)

	_, failure, err = Walk(t.Context(), threeTwice(), Walks{Number: 1000, Depth: 100})
	require.NoError(t, err)
	require.NotNil(t, failure)
	assert.ErrorIs(t, failure, errBad)
}
