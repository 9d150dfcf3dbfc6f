package buildertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// Counterexample is a run that violates a property.
type Counterexample struct {
	// Steps are what happened, a line each.
	Steps []string
	// Err is the violated property: see [ErrNoRest] and the others.
	Err error
	// Bounds are those within which the run was found. Those of a random walk allow more faults than the given ones, and its processes
	// keep their memory.
	Bounds Bounds
	// Story is the run as a file of package story, with its output, if the scenario is from one.
	Story string

	did        []done // in each step; shorter if the steps can't happen again
	isWalk     bool
	needs      facts // that a replay doesn't learn from its run without faults
	unrepeated bool  // no replay meets it with all that the exploration has learned since
}

// walkHeader begins the text of a counterexample that a random walk has found.
const walkHeader = "in a random walk, within "

// didHeader begins a line of what an operator did in the step above it.
const didHeader = "- "

// Error returns the story: a numbered line for each step, lines with a dash for what a pass wrote and its error, and the property in a last
// line that begins with "then:". Steps that repeat and do the same are one line. The text of a random walk begins with its bounds. Then
// come kinds that operators read, and namespaces in which pods compete for a quota, if only other runs showed that: the orders that are
// left out depend on it.
func (c *Counterexample) Error() string {
	var b strings.Builder
	if c.isWalk {
		fmt.Fprintf(&b, "%sCrashes: %d, StaleReads: %d, EarlyTimers: %d, LostReplies: %d, KeepMemory: %t:\n",
			walkHeader, c.Bounds.Crashes, c.Bounds.StaleReads, c.Bounds.EarlyTimers, c.Bounds.LostReplies, c.Bounds.KeepMemory)
	}
	b.WriteString(c.needs.String())
	for i, n := 0, 1; i < len(c.Steps); n++ {
		times := 1
		for i+times < len(c.Steps) && c.Steps[i+times] == c.Steps[i] && slices.Equal(c.linesOf(i+times), c.linesOf(i)) {
			times++
		}
		fmt.Fprintf(&b, "%3d. %s", n, c.Steps[i])
		if times > 1 {
			fmt.Fprintf(&b, " (%d times)", times)
		}
		b.WriteString("\n")
		for _, line := range c.linesOf(i) {
			fmt.Fprintf(&b, "     %s%s\n", didHeader, line)
		}
		i += times
	}
	fmt.Fprintf(&b, "then: %v", c.Err)
	if c.unrepeated {
		b.WriteString("\nReplay doesn't meet this again: the exploration found it before it had learned all that it knows now.")
	}
	if c.Story != "" {
		fmt.Fprintf(&b, "\nas a story:\n%s", c.Story)
	}
	return b.String()
}

// linesOf returns what an operator did in a step, a line each.
func (c *Counterexample) linesOf(step int) []string {
	if step >= len(c.did) {
		return nil
	}
	return c.did[step].lines()
}

// Unwrap returns the violated property.
func (c *Counterexample) Unwrap() error { return c.Err }

// Replay runs a scenario along a story, which is the text of a [Counterexample], and then until it rests. It returns the violation that
// it meets as a Counterexample, nil if there is none. A step that can't happen is another error. The bounds are those that were given to
// the exploration, also for the story of a random walk. They must allow the faults of the story. States, Walks and Seed don't matter.
func Replay(ctx context.Context, s Scenario, b Bounds, story string) error {
	steps, isWalk, needs, err := parseStory(story)
	if err != nil {
		return err
	}
	e, err := newExploration(ctx, s, b)
	if err != nil {
		return err
	}
	if err := e.tell(needs); err != nil {
		return err
	}
	if isWalk {
		e.walks, e.bounds = true, e.bounds.ofWalk()
	}
	failure, err := search.Follow(e, steps, e.bounds.Depth, false)
	if err != nil || failure == nil {
		return err
	}
	return e.counterexample(failure)
}

// parseStory returns the steps of a story, whether a random walk has found it, and the facts that it needs.
func parseStory(story string) (steps []string, isWalk bool, needs facts, err error) {
	for line := range strings.Lines(story) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "then: ") {
			break
		}
		if strings.HasPrefix(line, walkHeader) {
			isWalk = true
			continue
		}
		if line == "" || strings.HasPrefix(line, didHeader) || needs.parse(line) {
			continue
		}
		number, step, ok := strings.Cut(line, ". ")
		if _, err := strconv.Atoi(number); err != nil || !ok {
			return nil, false, facts{}, fmt.Errorf("a line of the story is %q; it must be a number, a dot, a space and a step", line)
		}
		times := 1
		if before, count, ok := strings.Cut(step, " ("); ok && strings.HasSuffix(count, " times)") {
			n, err := strconv.Atoi(strings.TrimSuffix(count, " times)"))
			if err != nil {
				return nil, false, facts{}, fmt.Errorf("a line of the story is %q; the number of times must be a number", line)
			}
			step, times = before, n
		}
		steps = append(steps, slices.Repeat([]string{step}, times)...)
	}
	return steps, isWalk, needs, nil
}

func isCircle(err error) bool {
	var circle search.Circle
	return errors.As(err, &circle)
}

func (e *exploration) counterexample(f *search.Failure) *Counterexample {
	err := f.Err
	if isCircle(err) {
		err = fmt.Errorf("%w: %w", ErrNoRest, err)
	}
	c := &Counterexample{
		Steps: slices.Clone(f.Trace), Err: err, Bounds: e.bounds, isWalk: e.walks, needs: e.facts().without(e.learned),
	}
	_ = e.retrace(c.Steps, func(_, after *exploredState, _ string) error { // as far as it happens again
		c.did = append(c.did, after.did)
		return nil
	})
	return c
}

// retrace takes the steps of a trace again, and calls visit for each with the states before and after it.
func (e *exploration) retrace(trace []string, visit func(before, after *exploredState, step string) error) error {
	s := e.first
	for _, name := range trace {
		o, err := search.Find(e, s, name)
		if err != nil || o == nil {
			return fmt.Errorf("%q can't happen again: %w", name, err)
		}
		if err := visit(s, o.State, name); err != nil {
			return err
		}
		s = o.State
	}
	return nil
}
