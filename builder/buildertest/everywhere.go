package buildertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// CrashEverywhere tests that an operator survives a crash at any time. It runs the scenario once without a crash, until nothing
// changes any more and all steps of Then are done. Then, for each write k of that run, it crashes the process after its k-th write: it
// goes on from the server's state after that write with a new process. (Whether the crashed process got the reply to its last write makes
// no difference to the server.) New processes that lead to the same state before they first rest would go on alike, so one of them does:
// that of the last crash, which remembers the least. With [Scenario].Outside it makes each run from its start, and crashes after changes
// outside, too. The test fails unless each run reaches the same end state as the first one, creates no object more often, and writes to
// no object of another owner.
func CrashEverywhere(t testing.TB, s Scenario) {
	t.Helper()
	if err := crashEverywhere(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// Settle runs a scenario once, without a crash, until nothing changes any more and all steps of Then are done. It returns the server,
// so that a test can check the end state. When nothing changes, it moves the clock to the time for which the operator requested
// another pass, unless [Scenario.ClockStands]. The test fails if the scenario doesn't settle, or if the operator writes to an object
// of another owner.
func Settle(t testing.TB, s Scenario) *Server {
	t.Helper()
	d, err := s.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.inPeace(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.server
}

func crashEverywhere(ctx context.Context, given Scenario) error {
	s, err := given.withDefaults()
	if err != nil {
		return err
	}
	peace, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("without a crash: %w", err)
	}
	var crashes []crashed
	peace.process.written = func(write Call) {
		c := crashed{write: write}
		if s.Outside == nil {
			c.run = peace.crash()
		}
		crashes = append(crashes, c)
	}
	if err := peace.inPeace(ctx); err != nil {
		return fmt.Errorf("without a crash: %w", err)
	}
	want, err := peace.endState()
	if err != nil {
		return err
	}
	if len(crashes) == 0 {
		return errors.New("without a crash: the operator wrote nothing, so there is nowhere to crash")
	}
	comparison := comparison{scenario: s, want: want, peace: peace.writes(), digests: digests{}, continuations: map[waypoint]*continuation{}}
	var errs []error
	for k, c := range slices.Backward(crashes) {
		check := func() error { return comparison.continued(ctx, c.run) }
		if s.Outside != nil {
			check = func() error { return comparison.fromStart(ctx, k+1) }
		}
		if err := check(); err != nil {
			errs = append(errs, fmt.Errorf("crash after write %d of %d (%s): %w", k+1, len(crashes), c.write, err))
		}
		crashes[k].run = nil // its server may be large
	}
	slices.Reverse(errs)
	return few(errs)
}

// crashed is a run whose process has crashed after a write.
type crashed struct {
	*run  // nil if it can't be copied
	write Call
}

// few joins the first errors, because later ones mostly have the same cause.
func few(errs []error) error {
	const shown = 3
	if more := len(errs) - shown; more > 0 {
		errs = append(errs[:shown:shown], fmt.Errorf("and %d more of the crashes ended otherwise than in peace", more))
	}
	return errors.Join(errs...)
}

// inPeace runs to the end, without a crash.
func (r *run) inPeace(ctx context.Context) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	return errors.Join(r.scenario.checkExisted(r.server), r.scenario.checkForeign(r.server, r.writes()))
}

// endState returns the server's state for a comparison: all objects, beside a Cluster those of kinds that the operator reads or writes.
func (r *run) endState() ([]string, error) {
	if r.cluster == nil {
		return r.scenario.endState(r.server)
	}
	r.keepCalls()
	known := map[schema.GroupKind]bool{}
	for _, c := range r.calls {
		known[c.Kind] = true
	}
	s := r.scenario
	s.Normalize = func(obj *unstructured.Unstructured) bool {
		return known[obj.GroupVersionKind().GroupKind()] && r.scenario.Normalize(obj)
	}
	return s.endState(r.server)
}

// comparison compares runs with a crash with the one without.
type comparison struct {
	scenario *Scenario
	want     []string // the end state without a crash
	peace    []Call   // the writes without a crash
	digests  digests

	continuations map[waypoint]*continuation
}

// waypoint is a state between two rounds. Runs through the same one do the same from there on, unless the memory of their processes
// differs.
type waypoint struct {
	content search.Hash // of all objects
	now     time.Time
	steps   int           // of Then that are done
	asked   string        // until the operator's next passes
	next    time.Duration // until the cluster's next step
	failed  string        // the operator's error
}

// endsAt reports whether a run ends at a waypoint. Later ones than that at which it first rests are not asked for. With a lag, what a
// process reads until then depends on what it wrote.
func (r *run) endsAt(asked []time.Duration, next time.Duration, failed error, rests bool) bool {
	passed := r.passed
	if rests {
		r.passed = nil
	} else if r.scenario.Lag > 0 {
		return false
	}
	snap := r.server.snapshot()
	at := waypoint{now: snap.now, steps: r.steps, asked: fmt.Sprint(asked), next: next}
	if failed != nil {
		at.failed = failed.Error()
	}
	return passed(at, snap)
}

// continuation is how a run goes on from a waypoint.
type continuation struct {
	run    *ended
	before int // its writes up to there
}

// ended is a run that has reached its end.
type ended struct {
	writes []Call
	err    error // how its end differs from that without a crash
}

// continued continues a run after a crash, as far as no other run went on from the same waypoint, and compares it.
func (c *comparison) continued(ctx context.Context, r *run) error {
	var known *continuation
	own := &ended{}
	r.passed = func(at waypoint, snap *snapshot) bool {
		at.content = c.digests.all(snap, reads{}.versionOf(snap))
		found := c.continuations[at]
		switch {
		case found == nil:
			c.continuations[at] = &continuation{run: own, before: len(r.writes())}
		case found.run != own && found.run.err == nil: // a run that fails is told by its own end
			known = found
		}
		return known != nil
	}
	if own.err = r.restart(ctx); own.err == nil {
		own.err = r.settle(ctx)
	}
	own.writes = r.writes()
	switch {
	case own.err != nil:
		return own.err
	case known != nil:
		own.writes = append(own.writes, known.run.writes[known.before:]...)
	default:
		own.err = c.checkEnd(r)
	}
	return errors.Join(own.err, c.checkWrites(r.server, own.writes))
}

// fromStart makes a run whose first process crashes after its k-th write, and compares it.
func (c *comparison) fromStart(ctx context.Context, k int) error {
	r, err := c.scenario.begin(ctx)
	if err != nil {
		return err
	}
	first := r.process
	first.CrashAfter(k)
	if err := r.settle(ctx); err != nil {
		return err
	}
	if err := errors.Join(c.checkEnd(r), c.checkWrites(r.server, r.writes())); err != nil {
		return err
	}
	if !first.Crashed() {
		return errors.New("this run had fewer writes than the first one, and no crash; a scenario must do the same in each run")
	}
	return nil
}

// checkEnd compares the end state of a run.
func (c *comparison) checkEnd(r *run) error {
	got, err := r.endState()
	if err != nil {
		return err
	}
	if diff := difference(c.want, got); diff != "" {
		return fmt.Errorf("the end state differs (-in peace, +after the crash):\n%s", diff)
	}
	return nil
}

// checkWrites compares the writes of a run.
func (c *comparison) checkWrites(server *Server, writes []Call) error {
	var errs []error
	once := creations(c.peace)
	for name, uids := range creations(writes) {
		if allowed := max(1, len(once[name])); len(uids) > allowed {
			errs = append(errs, fmt.Errorf("%s was made %d times, in peace %d times", name, len(uids), allowed))
		}
	}
	return errors.Join(append(errs, c.scenario.checkForeign(server, writes))...)
}

// difference returns the lines in which two states differ, with a few lines around each.
func difference(want, got []string) string {
	if slices.Equal(want, got) {
		return ""
	}
	want, got = asYAML(want), asYAML(got)
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(strings.Join(want, "---\n")), B: difflib.SplitLines(strings.Join(got, "---\n")), Context: 12,
	})
	if err != nil {
		return err.Error()
	}
	return diff
}

// checkForeign returns an error if writes of the operator changed an object of another owner.
func (s *Scenario) checkForeign(server *Server, writes []Call) error {
	foreign, err := s.foreignObjects(server)
	if err != nil {
		return err
	}
	var errs []error
	for _, write := range writes {
		for _, c := range write.single() {
			if c.Changed && foreign[c.UID] {
				errs = append(errs, fmt.Errorf("an object that is not the operator's was written: %s", c))
			}
		}
	}
	return errors.Join(errs...)
}
