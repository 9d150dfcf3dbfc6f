package buildertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CrashEverywhere tests that an operator survives a crash at any time. It runs the scenario once without a crash, until nothing
// changes any more and all steps of Then are done. Then, for each write k of that run, it starts again and crashes the process after
// its k-th write, once with the server's reply and once without, starts a new process, and runs on. The test fails unless each run
// reaches the same end state as the first one, creates no object more often, and writes to no object of another owner.
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
	r, _, err := d.inPeace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r.server
}

func crashEverywhere(ctx context.Context, given Scenario) error {
	s, err := given.withDefaults()
	if err != nil {
		return err
	}
	peace, want, err := s.inPeace(ctx)
	if err != nil {
		return fmt.Errorf("without a crash: %w", err)
	}
	writes := successes(peace.writes())
	if len(writes) == 0 {
		return errors.New("without a crash: the operator wrote nothing, so there is nowhere to crash")
	}
	var errs []error
	for k := 1; k <= len(writes); k++ {
		if err := s.crashing(ctx, k, nil, peace, want); err != nil {
			errs = append(errs, fmt.Errorf("crash after write %d of %d (in peace: %s): %w", k, len(writes), writes[k-1], err))
		}
		if err := s.crashing(ctx, k, []CrashOption{LosingReply()}, peace, want); err != nil {
			errs = append(errs, fmt.Errorf("crash after write %d of %d, its reply lost (in peace: %s): %w", k, len(writes), writes[k-1], err))
		}
	}
	return few(errs)
}

// few joins the first errors, because later ones mostly have the same cause.
func few(errs []error) error {
	const shown = 3
	if more := len(errs) - shown; more > 0 {
		errs = append(errs[:shown:shown], fmt.Errorf("and %d more of the crashes ended otherwise than in peace", more))
	}
	return errors.Join(errs...)
}

func (s *Scenario) inPeace(ctx context.Context) (*run, []string, error) {
	r, err := s.begin()
	if err != nil {
		return nil, nil, err
	}
	if err := r.settle(ctx); err != nil {
		return nil, nil, err
	}
	if err := s.checkForeign(r); err != nil {
		return nil, nil, err
	}
	end, err := r.endState()
	return r, end, err
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

// crashing runs a scenario with a crash after the k-th write and compares it with the run without a crash.
func (s *Scenario) crashing(ctx context.Context, k int, options []CrashOption, peace *run, want []string) error {
	r, err := s.begin()
	if err != nil {
		return err
	}
	r.process.CrashAfter(k, options...)
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

// successes returns the writes that succeeded.
func successes(writes []Call) []Call {
	var done []Call
	for _, c := range writes {
		if c.Err == nil {
			done = append(done, c)
		}
	}
	return done
}
