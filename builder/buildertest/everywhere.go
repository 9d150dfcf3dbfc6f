package buildertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CrashEverywhere tests that an operator survives a crash at any time. It runs the scenario once without a crash, until nothing
// changes any more and all steps of Then are done. Then, for each write k of that run, it crashes the process after its k-th write: it
// goes on from the server's state after that write with a new process. (Whether the crashed process got the reply to its last write makes
// no difference to the server.) With [Scenario].Outside it makes each run from its start, and crashes after changes outside, too. The
// test fails unless each run reaches the same end state as the first one, creates no object more often, and writes to no object of
// another owner.
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
	var errs []error
	for k, c := range crashes {
		check := func() error { return s.checkCrash(ctx, c.run, peace, want) }
		if s.Outside != nil {
			check = func() error { return s.checkCrashFromStart(ctx, k+1, peace, want) }
		}
		if err := check(); err != nil {
			errs = append(errs, fmt.Errorf("crash after write %d of %d (%s): %w", k+1, len(crashes), c.write, err))
		}
		crashes[k].run = nil // its server may be large
	}
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
	return r.scenario.checkForeign(r)
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

// checkCrash continues a run after a crash and compares it with the run without a crash.
func (s *Scenario) checkCrash(ctx context.Context, r *run, peace *run, want []string) error {
	if err := r.restart(ctx); err != nil {
		return err
	}
	return s.checkEnd(ctx, r, peace, want)
}

// checkCrashFromStart makes a run whose first process crashes after its k-th write and compares it with the run without a crash.
func (s *Scenario) checkCrashFromStart(ctx context.Context, k int, peace *run, want []string) error {
	r, err := s.begin(ctx)
	if err != nil {
		return err
	}
	first := r.process
	first.CrashAfter(k)
	if err := s.checkEnd(ctx, r, peace, want); err != nil {
		return err
	}
	if !first.Crashed() {
		return errors.New("this run had fewer writes than the first one, and no crash; a scenario must do the same in each run")
	}
	return nil
}

// checkEnd runs a run to its end and compares it with the run without a crash.
func (s *Scenario) checkEnd(ctx context.Context, r *run, peace *run, want []string) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	got, err := r.endState()
	if err != nil {
		return err
	}
	var errs []error
	if diff := difference(want, got); diff != "" {
		errs = append(errs, fmt.Errorf("the end state differs (-in peace, +after the crash):\n%s", diff))
	}
	once := creations(peace.writes())
	for name, uids := range creations(r.writes()) {
		if allowed := max(1, len(once[name])); len(uids) > allowed {
			errs = append(errs, fmt.Errorf("%s was made %d times, in peace %d times", name, len(uids), allowed))
		}
	}
	return errors.Join(append(errs, s.checkForeign(r))...)
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

// checkForeign returns an error if the operator has changed an object of another owner.
func (s *Scenario) checkForeign(r *run) error {
	foreign := map[string]bool{}
	for _, obj := range s.Objects {
		if s.Foreign(obj) {
			k, err := r.server.kinds.of(obj)
			if err != nil {
				return err
			}
			foreign[newRequest("", k, keyOf(obj)).object()] = true
		}
	}
	var errs []error
	for _, c := range r.writes() {
		if c.Changed && foreign[c.object()] {
			errs = append(errs, fmt.Errorf("an object that is not the operator's was written: %s", c))
		}
	}
	return errors.Join(errs...)
}
