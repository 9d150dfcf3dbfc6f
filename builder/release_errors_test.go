package builder_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
)

// withConfig adds a ConfigMap to the plan, with a value that depends on the program.
func withConfig(value string) func(*v1alpha1.JobFlow, *builder.Plan[*v1alpha1.JobFlow]) {
	return func(flow *v1alpha1.JobFlow, p *builder.Plan[*v1alpha1.JobFlow]) {
		p.Children = append(p.Children, builder.Want(
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: flow.Name + "-extra"}, Data: map[string]string{"k": value}}))
	}
}

// errorOf runs a pass that fails.
func (f *fleet) errorOf(name string) error {
	f.Helper()
	_, err := f.Reconcile(f.Context(), reconcile.Request{NamespacedName: key(name)})
	require.Error(f, err)
	return err
}

func (f *fleet) ready(name string) metav1.Condition {
	f.Helper()
	c := meta.FindStatusCondition(f.flow(name).Status.Conditions, events.ConditionReady)
	require.NotNil(f, c)
	return *c
}

// A child that can't be created disrupts nothing. Its owner reports the error as at any other time, and the roll-out completes.
func TestAChildThatCannotBeCreatedHoldsUpNoRelease(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  func(buildertest.Call) error
		reason string
	}{
		"not owned": {reason: "NotOwned"},
		"quota":     {fault: buildertest.QuotaExceeded, reason: "ApplyFailed"},
		"forbidden": {fault: buildertest.Forbidden, reason: "ApplyFailed"},
		"denied":    {fault: buildertest.WebhookDenied, reason: "ApplyFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a", "b")
			f.runs(one)
			f.now = f.now.Add(time.Hour)
			p := two
			p.image, p.more = one.image, withConfig("1")
			f.starts(p)
			if tt.fault == nil {
				require.NoError(t, f.world.Create(t.Context(), newConfigMap("default", "b-extra", "")))
			} else {
				f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Name: "b-extra", Error: tt.fault})
			}
			f.pass("a")
			told := len(f.operator.Events())
			for range 2 {
				require.Error(t, f.errorOf("b"))
			}
			assert.Equal(t, metav1.ConditionFalse, f.ready("b").Status)
			assert.Equal(t, tt.reason, f.ready("b").Reason)
			assert.Len(t, f.operator.Events(), told+1)
			assert.Equal(t, turns.Complete, f.record().State)
		})
	}
}

// What else the new build does to such an owner waits for its turn, although the pass would do it only without the error.
func TestADisruptionBesideAnErrorWaitsForATurn(t *testing.T) {
	f := newFleet(t, "a", "b")
	first := one
	first.more = withConfig("1")
	f.runs(first)
	f.now = f.now.Add(time.Hour)
	p := two
	p.image = one.image
	p.more = func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
		plan.Children = append(plan.Children, builder.Want(newConfigMap("default", flow.Name+"-new", "")))
	}
	f.starts(p)
	f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Name: "b-new", Error: buildertest.Forbidden})
	f.round()
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
	c := meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReleased)
	assert.Equal(t, "22222222-20260101T010000Z: ConfigMap default/b-extra deleted", c.Message)
}

// The dry run of a change of an existing object fails: nobody knows what it disrupts. The owner says so while it waits.
func TestAChangeWhoseDryRunFailsWaitsForATurn(t *testing.T) {
	f := newFleet(t, "a", "b")
	first := one
	first.more = withConfig("1")
	f.runs(first)
	f.now = f.now.Add(time.Hour)
	p := two
	p.image, p.more = one.image, withConfig("2")
	f.starts(p)
	f.operator.Fail(buildertest.Fault{
		Verb: buildertest.VerbApply, Kind: schema.GroupKind{Kind: "ConfigMap"}, Error: buildertest.WebhookDenied,
	})
	f.round()
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
	c := meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReleased)
	assert.Contains(t, c.Message, ": unknown, because its dry run fails: apply ConfigMap default/b-extra: ")
	assert.Contains(t, c.Message, "denied the request")
}

// A create that fails stops those of its kind. It doesn't hide the change of an existing object of the kind.
func TestAFailedCreateHidesNoDisruption(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	p := two
	p.more = func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
		for i := range 20 {
			other := newOwner()
			other.ObjectMeta = metav1.ObjectMeta{Name: flow.Name + "-" + strings.Repeat("x", i+1)}
			plan.Children = append([]builder.Child{builder.Want(other)}, plan.Children...)
		}
	}
	f.starts(p)
	f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: buildertest.QuotaExceeded})
	f.round()
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
}

// A failing server ends the pass before anything is changed.
func TestAFailingServerDecidesNothing(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbApply, Name: "b", Error: buildertest.Internal})
	f.pass("a")
	require.ErrorContains(t, f.errorOf("b"), "etcdserver")
	assert.Equal(t, "Releasing ChangedByUser", f.marks())
	f.operator.Heal()
	f.pass("b")
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
}

// planningNothingFor is program two, whose plan panics for an owner while wrong is true.
func planningNothingFor(owner string, wrong *bool) program {
	p := two
	p.more = func(flow *v1alpha1.JobFlow, _ *builder.Plan[*v1alpha1.JobFlow]) {
		if *wrong && flow.Name == owner {
			panic("no plan")
		}
	}
	return p
}

// A canary without a plan halts the roll-out as one that fails does. A user goes on without it.
func TestACanaryWithoutAPlanHaltsARelease(t *testing.T) {
	f := newFleet(t, "a", "canary:b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	wrong := true
	p := planningNothingFor("b", &wrong)
	f.starts(p)
	f.pass("a")
	assert.Equal(t, time.Minute, f.pass("canary:b"), "it reads the user's decision")
	assert.Equal(t, "WaitingForTurn RolloutHalted", f.marks())
	assert.Equal(t, events.ReasonInvalidPlan, f.ready("b").Reason)
	told := len(f.operator.Events())
	f.pass("canary:b")
	assert.Len(t, f.operator.Events(), told, "each is an event once")

	f.decide(func(r *turns.Record) { r.Passed = []string{"default/b"} })
	f.pass("a")
	assert.Equal(t, "Releasing RolloutHalted", f.marks())
	wrong = false
	for range 4 {
		f.round()
		f.becomesReady("a", "b")
	}
	assert.Equal(t, "Released Released", f.marks())
	assert.Equal(t, "web:2 web:2", f.images())
	assert.Equal(t, turns.Complete, f.record().State)
}

// A canary whose External fails has as long as any other owner.
func TestACanaryWhoseExternalFailsHaltsARelease(t *testing.T) {
	f := newFleet(t, "a", "canary:b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	p := two
	p.external = func() error { return errors.New("no route") }
	f.starts(p)
	require.ErrorContains(t, f.errorOf("b"), "no route")
	assert.Equal(t, "ChangedByUser Releasing", f.marks())
	f.now = f.now.Add(11 * time.Minute)
	require.ErrorContains(t, f.errorOf("b"), "no route")
	assert.Equal(t, "ChangedByUser RolloutHalted", f.marks())
}

// A canary without a plan gets no turn beside another one in its turn, because its plan may come back and disrupt it.
func TestACanaryWithoutAPlanKeepsTheLimit(t *testing.T) {
	f := newFleet(t, "canary:a", "canary:b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	wrong := true
	p := planningNothingFor("b", &wrong)
	f.starts(p)
	f.pass("canary:a")
	assert.Equal(t, time.Minute, f.pass("canary:b"), "it asks again")
	assert.Equal(t, "Releasing ChangedByUser", f.marks())
	assert.Equal(t, events.ReasonInvalidPlan, f.ready("b").Reason)
	wrong = false
	f.round()
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
	wrong = true
	f.becomesReady("canary:a")
	f.pass("canary:a")
	f.pass("canary:b")
	assert.Equal(t, "Released RolloutHalted", f.marks())
}

// Two canaries that an earlier roll-out left in their turns, with a higher limit, don't wait for each other.
func TestCanariesWithoutAPlanDontWaitForEachOther(t *testing.T) {
	f := newFleet(t, "canary:a", "canary:b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	p := two
	p.limit = "2"
	f.starts(p)
	f.round()
	f.round()
	require.Equal(t, "Releasing Releasing", f.marks())
	q := two
	q.build, q.limit = "3333333333", "1"
	q.more = func(*v1alpha1.JobFlow, *builder.Plan[*v1alpha1.JobFlow]) { panic("no plan") }
	f.starts(q)
	for range 2 {
		for _, name := range []string{"a", "b"} {
			_, _ = f.Reconcile(t.Context(), reconcile.Request{NamespacedName: key(name)})
		}
	}
	assert.Contains(t, f.marks(), "RolloutHalted")
}

// A canary whose view can't be made asks again for its turn, as one whose plan panics does.
func TestACanaryWithoutAViewAsksAgain(t *testing.T) {
	f := newFleet(t, "canary:a", "canary:b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	p := two
	p.byName, p.unnamed = true, true
	f.starts(p)
	f.pass("canary:a")
	require.Equal(t, "RolloutHalted ChangedByUser", f.marks())
	assert.Equal(t, time.Minute, f.pass("canary:b"))
}

// Nor does a ConfigMap of the same phase that can't be created hide the change of a Deployment.
func TestAFailedCreateHidesNoDisruptionInItsPhase(t *testing.T) {
	f := newFleet(t, "a", "b")
	phased := func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
		plan.Rollout.Phases = []string{"only"}
		plan.Children = []builder.Child{builder.Want(plan.Children[0].Object(), builder.InPhase("only"))}
	}
	p, q := one, two
	p.more = phased
	q.more = func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
		phased(flow, plan)
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: flow.Name + "-extra"}}
		plan.Children = append(plan.Children, builder.Want(config, builder.InPhase("only")))
	}
	f.starts(p)
	f.round()
	f.becomesReady("a", "b")
	for range 3 {
		f.round()
	}
	require.Equal(t, turns.Complete, f.record().State)
	f.now = f.now.Add(time.Hour)
	f.starts(q)
	f.operator.Fail(buildertest.Fault{
		Verb: buildertest.VerbCreate, Kind: schema.GroupKind{Kind: "ConfigMap"}, Error: buildertest.QuotaExceeded,
	})
	for _, name := range []string{"a", "b"} {
		_, _ = f.Reconcile(t.Context(), reconcile.Request{NamespacedName: key(name)})
	}
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
}

// An owner whose objects can't be read halts the roll-out, in its turn and as a canary, as one whose External fails does: a user must
// learn why the others wait, and can let them go on.
func TestAnOwnerThatCannotBeReadHaltsARelease(t *testing.T) {
	unreadable := buildertest.Fault{Verb: buildertest.VerbGet, Name: "config", Error: buildertest.Forbidden}
	for name, waits := range map[string]string{"in its turn": "a", "a canary": "canary:a"} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, waits, "b")
			f.runs(one)
			f.now = f.now.Add(time.Hour)
			p := two
			p.byName = true
			f.starts(p)
			if waits == "a" {
				f.pass("a")
				f.starts(p) // it has read nothing yet
			}
			f.pass("b")
			f.operator.Fail(unreadable)
			require.ErrorContains(t, f.errorOf("a"), "forbidden")
			require.Equal(t, "Releasing WaitingForTurn", f.marks())
			f.now = f.now.Add(11 * time.Minute)
			require.ErrorContains(t, f.errorOf("a"), "forbidden")
			require.Equal(t, "RolloutHalted WaitingForTurn", f.marks())
			f.operator.Heal()
			f.decide(func(r *turns.Record) { r.Passed = []string{"default/a"} })
			f.pass("b")
			assert.Equal(t, "RolloutHalted Releasing", f.marks())
		})
	}
}

// An owner for which nobody waits only retries: nothing is said of an error that may be gone a second later. A missing permission stays.
func TestAnOwnerThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct {
		fault   func(buildertest.Call) error
		reports bool
	}{
		"a failing server":     {buildertest.Internal, false},
		"a missing permission": {buildertest.Forbidden, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a")
			f.runs(one)
			p := one
			p.byName = true
			f.starts(p)
			f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbGet, Name: "config", Error: tt.fault})
			f.operator.Ledger().Reset()
			told := len(f.operator.Events())
			f.errorOf("a")
			f.errorOf("a")
			if !tt.reports {
				assert.Empty(t, f.operator.Ledger().Writes())
				assert.Equal(t, metav1.ConditionTrue, f.ready("a").Status)
				return
			}
			assert.Equal(t, metav1.ConditionFalse, f.ready("a").Status)
			assert.Equal(t, events.ReasonObservationFailed, f.ready("a").Reason)
			assert.Contains(t, f.ready("a").Message, "read ConfigMap default/config: ")
			assert.Len(t, f.operator.Events(), told+1)
			f.operator.Heal()
			f.pass("a")
			assert.Equal(t, metav1.ConditionTrue, f.ready("a").Status)
		})
	}
}

// No owner waits for a canary that terminates, whether its pass has a plan or not.
func TestATerminatingCanaryWithoutAPlanHoldsUpNoRelease(t *testing.T) {
	f := newFleet(t, "a", "canary:b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	flow := f.flow("canary:b")
	flow.Finalizers = []string{"example.com/wait"}
	require.NoError(t, f.world.Update(t.Context(), flow))
	p := two
	p.byName = true
	f.starts(p)
	f.pass("a")
	require.Equal(t, "WaitingForTurn ChangedByUser", f.marks())
	require.NoError(t, f.world.Delete(t.Context(), flow))
	f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbGet, Name: "config", Error: buildertest.Forbidden})
	f.errorOf("b")
	f.operator.Heal()
	f.pass("a")
	assert.Equal(t, "Releasing ChangedByUser", f.marks())
}

// A halting owner reads the user's decision although its pass has no plan: perhaps no other owner waits, and the alert would ring on.
func TestAHaltedOwnerWithoutAPlanReadsTheDecision(t *testing.T) {
	t.Run("a panic", func(t *testing.T) {
		f := newFleet(t, "canary:a")
		f.runs(one)
		f.now = f.now.Add(time.Hour)
		owners := f.ownersBy()
		wrong := true
		f.starts(planningNothingFor("a", &wrong))
		assert.Equal(t, time.Minute, f.pass("canary:a"), "it is the only one that reads the decision")
		require.Equal(t, "RolloutHalted", f.marks())
		require.Equal(t, 1, owners("halted"))
		f.decide(func(r *turns.Record) { r.State = turns.Aborted })
		f.pass("canary:a")
		assert.Zero(t, owners("halted"))
	})
	t.Run("External fails", func(t *testing.T) {
		f := newFleet(t, "canary:a")
		f.runs(one)
		f.now = f.now.Add(time.Hour)
		owners := f.ownersBy()
		p := two
		p.external = func() error { return errors.New("no route") }
		f.starts(p)
		f.errorOf("a")
		f.now = f.now.Add(11 * time.Minute)
		f.errorOf("a")
		require.Equal(t, 1, owners("halted"))
		f.decide(func(r *turns.Record) { r.State = turns.Aborted })
		f.errorOf("a")
		assert.Zero(t, owners("halted"))
	})
}
