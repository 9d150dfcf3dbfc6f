package builder_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
)

// fleet is a cluster with several owners, each with a Deployment, and an operator that is upgraded. The owners are JobFlows, because
// they are Conditioned; their flow's name stands for what a user can choose.
type fleet struct {
	*testing.T
	server *buildertest.Server
	world  client.Client
	now    time.Time
	owners []string

	operator *buildertest.Client
	reconcile.Reconciler
}

// program is a version of the operator.
type program struct {
	build, image string
	replicas     int32
	limit        string
	more         func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow])
	deletes      bool // the plan deletes its ConfigMaps
	keeps        bool // the former state, for an undo
	byName       bool // the ConfigMap is read by name
	unnamed      bool // the function of its name panics
	external     func() error
}

func newFleet(t *testing.T, owners ...string) *fleet {
	t.Helper()
	f := &fleet{T: t, owners: owners, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	f.server = buildertest.NewServer(flowScheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}))
	f.world = f.server.Client("world")
	for _, name := range owners {
		require.NoError(t, f.world.Create(t.Context(), newFlow(name)))
	}
	return f
}

func newFlow(name string) *v1alpha1.JobFlow {
	name, canary := strings.CutPrefix(name, "canary:")
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.JobFlowSpec{
		Flows: []v1alpha1.Flow{{Name: "small"}},
	}}
	if canary {
		flow.Labels = map[string]string{"armature.dev/canary": "true"}
	}
	return flow
}

// starts starts a process of a program.
func (f *fleet) starts(p program) {
	f.Helper()
	f.operator = f.server.Client("operator")
	r, err := operatorOf(p, f.operator, func() time.Time { return f.now })
	require.NoError(f, err)
	f.Reconciler = r
}

func operatorOf(p program, c client.Client, clock func() time.Time) (reconcile.Reconciler, error) {
	var configs []builder.OwnsOption
	if p.byName {
		configs = append(configs, builder.ByName(func(*v1alpha1.JobFlow) []string {
			if p.unnamed {
				panic("no name")
			}
			return []string{"config"}
		}))
	}
	op := builder.NewOperator[*v1alpha1.JobFlow](nil, "flow").Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}, configs...).
		Owns(&corev1.ReplicationController{}).Owns(&corev1.Secret{}).Owns(&batchv1.Job{}).
		Owns(&appsv1.ControllerRevision{}).Plan(func(flow *v1alpha1.JobFlow, view builder.View) builder.Plan[*v1alpha1.JobFlow] {
		labels := map[string]string{"app": flow.Name}
		plan := builder.Plan[*v1alpha1.JobFlow]{Report: true, PruneAll: true, Children: []builder.Child{
			builder.Want(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: flow.Name}, Spec: appsv1.DeploymentSpec{
				Replicas: new(max(p.replicas, 1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: flow.Spec.Flows[0].Name, Image: p.image}},
				}},
			}}),
		}}
		if p.more != nil {
			p.more(flow, &plan)
		}
		if p.deletes {
			plan.PruneAll = false
			for _, found := range builder.Owned[*corev1.ConfigMap](view) {
				plan.Delete = append(plan.Delete, found)
			}
		}
		return plan
	})
	if p.limit != "" {
		limit, err := turns.ParseLimit(p.limit)
		if err != nil {
			return nil, err
		}
		builder.InTurns(op, turns.Settings{
			Limit: limit, ReadyWithin: 10 * time.Minute, Namespace: "system", Prefix: "rollout", Build: p.build,
		})
	}
	if p.external != nil {
		op.External(func(context.Context, *v1alpha1.JobFlow, builder.View) (any, error) { return nil, p.external() })
	}
	if p.keeps {
		builder.Keeping(op, former.Settings{Build: p.build})
	}
	return buildertest.NewReconciler(op, c, clock)
}

// round runs a pass over each owner that exists.
func (f *fleet) round() {
	f.Helper()
	for _, name := range f.owners {
		f.pass(name)
	}
}

func (f *fleet) pass(name string) time.Duration {
	f.Helper()
	res, err := f.Reconcile(f.Context(), reconcile.Request{NamespacedName: key(name)})
	require.NoError(f, err)
	return res.RequeueAfter
}

func key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "default", Name: strings.TrimPrefix(name, "canary:")}
}

// becomesReady reports the Deployments of owners as ready.
func (f *fleet) becomesReady(names ...string) {
	f.Helper()
	for _, name := range names {
		var d appsv1.Deployment
		require.NoError(f, f.world.Get(f.Context(), key(name), &d))
		n := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		require.NoError(f, f.world.Status().Update(f.Context(), &d))
	}
}

// runs brings all owners of a first program to readiness.
func (f *fleet) runs(p program) {
	f.Helper()
	f.starts(p)
	f.round()
	f.becomesReady(f.owners...)
	f.round()
	f.round()
	require.Equal(f, turns.Complete, f.record().State)
}

// images are the images of the Deployments, in the order of the owners.
func (f *fleet) images() string {
	f.Helper()
	var all []string
	for _, name := range f.owners {
		var d appsv1.Deployment
		require.NoError(f, f.world.Get(f.Context(), key(name), &d))
		all = append(all, d.Spec.Template.Spec.Containers[0].Image)
	}
	return strings.Join(all, " ")
}

func (f *fleet) flow(name string) *v1alpha1.JobFlow {
	f.Helper()
	var flow v1alpha1.JobFlow
	require.NoError(f, f.world.Get(f.Context(), key(name), &flow))
	return &flow
}

// marks are the owners' conditions Released, by their reasons.
func (f *fleet) marks() string {
	f.Helper()
	var all []string
	for _, name := range f.owners {
		reason := "-"
		if c := meta.FindStatusCondition(f.flow(name).Status.Conditions, events.ConditionReleased); c != nil {
			reason = c.Reason
		}
		all = append(all, reason)
	}
	return strings.Join(all, " ")
}

func (f *fleet) record() turns.Record {
	f.Helper()
	var cm corev1.ConfigMap
	require.NoError(f, f.world.Get(f.Context(), client.ObjectKey{Namespace: "system", Name: "rollout-flow"}, &cm))
	r, err := turns.ReadRecord(&cm)
	require.NoError(f, err)
	return r
}

// decide changes the record as a user does.
func (f *fleet) decide(change func(*turns.Record)) {
	f.Helper()
	var cm corev1.ConfigMap
	require.NoError(f, f.world.Get(f.Context(), client.ObjectKey{Namespace: "system", Name: "rollout-flow"}, &cm))
	r, err := turns.ReadRecord(&cm)
	require.NoError(f, err)
	change(&r)
	r.Write(&cm)
	require.NoError(f, f.world.Update(f.Context(), &cm))
	f.now = f.now.Add(10 * time.Second)
}

var (
	one = program{build: "1111111111", image: "web:1", limit: "1"}
	two = program{build: "2222222222", image: "web:2", limit: "1"}
)

// A new build changes one owner after the other, each when the earlier one is ready.
func TestOwnerByOwner(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.operator.Ledger().Reset()
	f.round()
	assert.Equal(t, "web:1 web:1 web:1", f.images())
	assert.Equal(t, "Releasing WaitingForTurn WaitingForTurn", f.marks())
	c := meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReleased)
	assert.Equal(t, metav1.ConditionFalse, c.Status)
	assert.Equal(t, "22222222-20260101T010000Z: Deployment.apps default/b restarts pods", c.Message)
	assert.Equal(t, "Ready", meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReady).Reason, "as it was")

	f.round()
	assert.Equal(t, "web:2 web:1 web:1", f.images())
	f.server.Ledger().Reset()
	f.round()
	assert.Empty(t, f.server.Ledger().Writes(), "what waits costs nothing")
	assert.Equal(t, 10*time.Second, f.pass("b"))
	f.now = f.now.Add(5 * time.Minute)
	f.pass("b")
	assert.NotEmpty(t, f.server.Ledger().Writes(), "now and then a dry run")
	f.server.Ledger().Reset()
	f.now = f.now.Add(10 * time.Second)
	f.pass("b")
	assert.Empty(t, f.server.Ledger().Writes(), "the next one comes as late")

	f.becomesReady("a")
	f.round()
	assert.Equal(t, "Released Releasing WaitingForTurn", f.marks())
	f.round()
	assert.Equal(t, "web:2 web:2 web:1", f.images())
	f.becomesReady("b")
	f.round()
	f.round()
	f.becomesReady("c")
	assert.Equal(t, turns.Progressing, f.record().State)
	f.round()
	assert.Equal(t, "web:2 web:2 web:2", f.images())
	assert.Equal(t, "Released Released Released", f.marks())
	assert.Equal(t, turns.Complete, f.record().State)

	f.server.Ledger().Reset()
	f.starts(two)
	f.round()
	assert.Empty(t, f.server.Ledger().Writes())
}

// The end of a job isn't a change of the new build: a job that waits, also behind a roll-out that has halted, ends as usual.
func TestAnOwnerThatEndsWhileItWaits(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	over := ""
	p := two
	p.more = func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
		if flow.Name == over {
			plan.Children, plan.Status = nil, flow.DeepCopy()
			plan.Status.Status.CompletionTime = &metav1.Time{Time: f.now}
			meta.SetStatusCondition(&plan.Status.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeadlineExceeded,
			})
		}
	}
	f.starts(p)
	f.round()
	f.round()
	require.Equal(t, "Releasing WaitingForTurn WaitingForTurn", f.marks())

	over = "b"
	f.round()
	assert.NotNil(t, f.flow("b").Status.CompletionTime)
	var d appsv1.Deployment
	assert.True(t, apierrors.IsNotFound(f.world.Get(t.Context(), key("b"), &d)), "its plan has no children any more")
	assert.Equal(t, "Releasing - WaitingForTurn", f.marks())

	f.becomesReady("a")
	f.round()
	f.round()
	f.becomesReady("c")
	f.round()
	assert.Equal(t, "Released - Released", f.marks())
	assert.Equal(t, turns.Complete, f.record().State)
}

// A new build that disrupts nothing writes its record, and no record to owners. Other changes are made at once.
func TestReleaseWithoutDisruption(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(program{build: "3333333333", image: "web:1", limit: "1"})
	f.server.Ledger().Reset()
	f.round()
	assert.Equal(t, []string{"update ConfigMap system/rollout-flow", "update ConfigMap system/rollout-flow"}, f.writes())
	assert.Equal(t, turns.Complete, f.record().State)

	f.now = f.now.Add(time.Hour)
	f.starts(program{build: "4444444444", image: "web:1", limit: "1", replicas: 2})
	f.round()
	assert.Equal(t, turns.Complete, f.record().State)
	var d appsv1.Deployment
	require.NoError(t, f.world.Get(t.Context(), key("c"), &d))
	assert.Equal(t, int32(2), *d.Spec.Replicas)
}

// writes are the writes since the last reset of the ledger.
func (f *fleet) writes() []string {
	var all []string
	for _, call := range f.server.Ledger().Writes() {
		if !call.DryRun && call.Client == "operator" {
			all = append(all, call.String())
		}
	}
	return all
}

// A pass whose External fails has no plan. Its owner keeps its place in the roll-out, and halts it if that lasts too long.
func TestAReleaseWhoseExternalFails(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	var failure error
	p := two
	p.external = func() error { return failure }
	f.starts(p)
	f.round()
	require.Equal(t, "Releasing WaitingForTurn", f.marks())

	failure = errors.New("no route")
	told := len(f.operator.Events())
	for _, name := range f.owners {
		_, err := f.Reconcile(t.Context(), reconcile.Request{NamespacedName: key(name)})
		require.ErrorContains(t, err, "no route")
	}
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
	failure = nil
	f.pass("b")
	assert.Len(t, f.operator.Events(), told+2, "an ObservationFailed of each, and no second WaitingForTurn")
	assert.Nil(t, meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReady), "nothing of the failure is left")

	failure = errors.New("no route")
	f.now = f.now.Add(11 * time.Minute)
	_, err := f.Reconcile(t.Context(), reconcile.Request{NamespacedName: key("a")})
	require.ErrorContains(t, err, "no route")
	assert.Equal(t, "RolloutHalted WaitingForTurn", f.marks())
}

// An owner that doesn't become ready in time halts the roll-out, with one event. A user resumes it without that owner, or the owner
// becomes ready.
func TestHaltedRelease(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.round()
	assert.Equal(t, 10*time.Minute, f.pass("a"), "its children have changed; it is looked at again when its time is over")
	f.now = f.now.Add(10 * time.Minute)
	f.round()
	assert.Equal(t, "RolloutHalted WaitingForTurn WaitingForTurn", f.marks())
	c := meta.FindStatusCondition(f.flow("a").Status.Conditions, events.ConditionReleased)
	assert.Equal(t, metav1.ConditionUnknown, c.Status)
	assert.Contains(t, c.Message, ": Deployment.apps default/a: ")
	f.server.Ledger().Reset()
	f.now = f.now.Add(time.Hour)
	f.round()
	assert.Empty(t, f.writes(), "it stays halted")

	f.decide(func(r *turns.Record) { r.Passed = []string{"default/a"} })
	f.round()
	assert.Equal(t, "RolloutHalted Releasing WaitingForTurn", f.marks())
	f.round()
	f.becomesReady("b")
	f.round()
	assert.Equal(t, "RolloutHalted Released Releasing", f.marks())
	f.round()
	f.becomesReady("a", "c")
	f.round()
	assert.Equal(t, "Released Released Released", f.marks())
	assert.Equal(t, turns.Complete, f.record().State)
}

// After an abort the owners that wait keep what they have, in another process, too. The owner in its turn ends it.
func TestAbortedRelease(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.round()
	f.decide(func(r *turns.Record) { r.State = turns.Aborted })
	f.round()
	f.becomesReady("a")
	f.round()
	f.round()
	assert.Equal(t, "web:2 web:1 web:1", f.images())
	f.starts(two)
	f.round()
	f.round()
	assert.Equal(t, "Released WaitingForTurn WaitingForTurn", f.marks())
	assert.Equal(t, "web:2 web:1 web:1", f.images())

	f.decide(func(r *turns.Record) { r.State = turns.Progressing })
	for range 2 {
		f.round()
		f.round()
		f.becomesReady("b", "c")
	}
	f.round()
	assert.Equal(t, "web:2 web:2 web:2", f.images())
	assert.Equal(t, turns.Complete, f.record().State)
}

// A change of the spec by a user is never held, whether the program runs or not, and also after a pass that failed in the middle. It
// needs no turn of another owner.
func TestUserIsNeverHeld(t *testing.T) {
	edit := func(f *fleet, name string) {
		flow := f.flow(name)
		flow.Spec.Flows[0].Name = "large"
		require.NoError(f, f.world.Update(f.Context(), flow))
	}
	for name, run := range map[string]func(f *fleet){
		"while it waits": func(f *fleet) {
			f.starts(two)
			f.round()
			edit(f, "b")
			f.pass("b")
		},
		"while no program runs": func(f *fleet) {
			edit(f, "b")
			f.starts(two)
			f.round()
		},
		"while it waits and no program runs": func(f *fleet) {
			f.starts(two)
			f.round()
			edit(f, "b")
			f.starts(two)
			f.pass("b")
		},
		"while it is paused": func(f *fleet) {
			pause := func(value string) {
				flow := f.flow("b")
				flow.Annotations = map[string]string{"armature.dev/paused": value}
				require.NoError(f, f.world.Update(f.Context(), flow))
			}
			pause("true")
			f.pass("b")
			f.starts(two)
			f.round()
			edit(f, "b")
			f.pass("b")
			f.starts(two)
			pause("false")
			f.pass("b")
		},
		"in a pass that is repeated": func(f *fleet) {
			f.starts(two)
			f.round()
			edit(f, "b")
			f.operator.CrashAfter(1)
			_, _ = f.Reconcile(f.Context(), reconcile.Request{NamespacedName: key("b")})
			f.starts(two)
			f.pass("b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a", "b", "c")
			f.runs(one)
			f.now = f.now.Add(time.Hour)
			f.T = t
			run(f)
			assert.Equal(t, "web:2", strings.Fields(f.images())[1])
			assert.Equal(t, "web:1", strings.Fields(f.images())[2])
			assert.Equal(t, "ChangedByUser WaitingForTurn", strings.SplitN(f.marks()+" ", " ", 2)[1][:len("ChangedByUser WaitingForTurn")])
		})
	}
}

// Canaries go first, all of them before any other owner, and a canary that fails halts the others.
func TestCanaries(t *testing.T) {
	f := newFleet(t, "a", "canary:b", "canary:c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	p := two
	p.limit = "2"
	f.starts(p)
	f.round()
	assert.Equal(t, "WaitingForTurn Releasing Releasing", f.marks())
	f.round()
	f.becomesReady("b")
	f.round()
	f.round()
	assert.Equal(t, "WaitingForTurn Released Releasing", f.marks())
	f.starts(p)
	f.round()
	assert.Equal(t, "WaitingForTurn Released Releasing", f.marks())
	f.becomesReady("c")
	f.round()
	f.round()
	f.round()
	assert.Equal(t, "web:2 web:2 web:2", f.images())
}

// A rollback in the middle is a roll-out, too: only owners that have had their turn need one, and the end is that of the first build. A
// third start of the second build begins anew, also for owners that have been back without a turn.
func TestRollbackOfRelease(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	p := two
	p.limit = "50%"
	f.starts(p)
	f.round()
	assert.Equal(t, "Releasing Releasing WaitingForTurn", f.marks(), "half of 3 is 2")
	f.round()
	f.becomesReady("a")
	f.round()
	assert.Equal(t, "web:2 web:2 web:1", f.images())
	assert.Equal(t, "Released Releasing Releasing", f.marks())

	f.now = f.now.Add(time.Hour)
	f.starts(one)
	f.round()
	f.round()
	f.round()
	assert.Equal(t, "WaitingForTurn Releasing Released", f.marks(), "b isn't ready; a must wait for it")
	assert.Equal(t, "web:2 web:1 web:1", f.images())
	f.becomesReady("b")
	f.round()
	f.round()
	f.round()
	f.becomesReady("a")
	f.round()
	assert.Equal(t, "web:1 web:1 web:1", f.images())
	assert.Equal(t, turns.Complete, f.record().State)

	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.round()
	f.round()
	assert.Equal(t, "web:2 web:1 web:1", f.images())
}

// What is disruptive is what a preview says. What isn't, what answers to an observed state, and what another writer has changed isn't
// held.
func TestWhatWaitsForATurn(t *testing.T) {
	type plan = builder.Plan[*v1alpha1.JobFlow]
	with := func(names ...string) func(*v1alpha1.JobFlow, *plan) {
		return func(flow *v1alpha1.JobFlow, p *plan) {
			for _, name := range names {
				p.Children = append(p.Children, builder.Want(
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: flow.Name + name}, Data: map[string]string{"k": "v"}}))
			}
		}
	}
	for name, tt := range map[string]struct {
		upgraded program
		world    func(*appsv1.Deployment)
		why      string
	}{
		"a deletion":     {upgraded: program{replicas: 2}, why: "ConfigMap default/b-extra deleted"},
		"fewer replicas": {upgraded: program{replicas: 1, more: with("-extra")}, why: "Deployment.apps default/b scaled down from 2 to 1"},
		"a new child":    {upgraded: program{replicas: 2, more: with("-extra", "-new")}},
		"more replicas":  {upgraded: program{replicas: 3, more: with("-extra")}},
		"drift": {
			upgraded: program{replicas: 2, more: with("-extra")},
			world:    func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "web:0" },
		},
		"a deletion that the plan decides": {upgraded: program{replicas: 2, deletes: true}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a", "b")
			f.runs(program{build: "1", image: "web:1", limit: "1", replicas: 2, more: with("-extra")})
			f.now = f.now.Add(time.Hour)
			if tt.world != nil {
				var d appsv1.Deployment
				require.NoError(t, f.world.Get(t.Context(), key("b"), &d))
				tt.world(&d)
				require.NoError(t, f.world.Update(t.Context(), &d))
			}
			tt.upgraded.build, tt.upgraded.image, tt.upgraded.limit = "2", "web:1", "1"
			f.starts(tt.upgraded)
			f.round()
			if tt.why == "" {
				assert.Equal(t, "ChangedByUser ChangedByUser", f.marks(), "as of the first build")
				assert.Equal(t, turns.Complete, f.record().State)
				return
			}
			assert.Equal(t, "Releasing WaitingForTurn", f.marks())
			c := meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReleased)
			assert.Equal(t, "2-20260101T010000Z: "+tt.why, c.Message)
		})
	}
}

// An owner that is deleted in its turn, or paused before it, is waited for no longer; one that is paused in its turn is.
func TestOwnersThatLeaveARelease(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.round()
	pause := func(name string) {
		flow := f.flow(name)
		flow.Annotations = map[string]string{"armature.dev/paused": "true"}
		require.NoError(t, f.world.Update(t.Context(), flow))
	}
	pause("a")
	pause("b")
	f.round()
	f.round()
	assert.Equal(t, "Releasing - WaitingForTurn", f.marks())
	require.NoError(t, f.world.Delete(t.Context(), f.flow("a")))
	f.round()
	f.owners = f.owners[1:]
	f.round()
	f.becomesReady("c")
	f.round()
	assert.Equal(t, "- Released", f.marks())
	assert.Equal(t, "web:1 web:2", f.images())
	assert.Equal(t, turns.Complete, f.record().State)
}

// Nobody waits for an owner that is terminating, in its turn or as a canary, however long its finalizers keep it.
func TestTerminatingOwnersLeaveARelease(t *testing.T) {
	for _, leaving := range []string{"a", "b"} {
		f := newFleet(t, "canary:a", "canary:b", "c")
		f.runs(one)
		f.now = f.now.Add(time.Hour)
		f.starts(two)
		f.round()
		f.round()
		require.Equal(t, "Releasing WaitingForTurn WaitingForTurn", f.marks())
		flow := f.flow(leaving)
		flow.Finalizers = []string{"example.com/keep"}
		require.NoError(t, f.world.Update(t.Context(), flow))
		require.NoError(t, f.world.Delete(t.Context(), flow))
		for range 6 {
			f.round()
			for _, name := range f.owners {
				if name != "canary:"+leaving {
					f.becomesReady(name)
				}
			}
		}
		assert.Equal(t, turns.Complete, f.record().State, "%s is terminating", leaving)
	}
}

// The reply to the write of a mark may be lost, and an owner may be deleted and created again between two passes: others then don't wait
// for it any longer.
func TestLostRepliesAndSuccessorsLeaveARelease(t *testing.T) {
	for name, happens := range map[string]func(f *fleet){
		"lost reply": func(f *fleet) {
			f.becomesReady("a")
			f.operator.Fail(buildertest.Fault{Subresource: "status", Name: "a", Times: 1, AfterWrite: true, Error: buildertest.Timeout})
			_, err := f.Reconcile(f.Context(), reconcile.Request{NamespacedName: key("a")})
			require.Error(f, err)
			require.Equal(f, "Released WaitingForTurn", f.marks())
		},
		"successor": func(f *fleet) {
			require.NoError(f, f.world.Delete(f.Context(), f.flow("a")))
			require.NoError(f, f.world.Create(f.Context(), newFlow("a")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a", "b")
			f.runs(one)
			f.now = f.now.Add(time.Hour)
			f.starts(two)
			f.round()
			f.round()
			require.Equal(t, "Releasing WaitingForTurn", f.marks())
			happens(f)
			for range 6 {
				f.round()
				f.becomesReady("a", "b")
			}
			assert.Equal(t, "web:2 web:2", f.images())
			assert.Equal(t, turns.Complete, f.record().State)
		})
	}
}

// Without turns nothing is held, and what an earlier process has said of turns goes.
func TestTurnsAreSwitchedOff(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.round()
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
	f.starts(program{image: "web:2"})
	f.round()
	assert.Equal(t, "- -", f.marks())
	assert.Equal(t, "web:2 web:2", f.images())
}

// After a change of the record by another process or a user, a process begins again with what is stored.
func TestRecordIsReadAgain(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.round()
	f.round()
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "rollout-flow"}}
	require.NoError(t, f.world.Delete(t.Context(), record))
	f.now = f.now.Add(10 * time.Second)
	f.round()
	f.round()
	assert.Equal(t, "web:2 web:1", f.images(), "a isn't ready")
	f.becomesReady("a")
	f.round()
	f.round()
	f.becomesReady("b")
	f.round()
	assert.Equal(t, "web:2 web:2", f.images())
	assert.Equal(t, turns.Complete, f.record().State)
}

// Children in phases wait with the rest.
func TestPhasesWaitForATurn(t *testing.T) {
	phased := func(_ *v1alpha1.JobFlow, p *builder.Plan[*v1alpha1.JobFlow]) {
		p.Rollout.Phases = []string{"only"}
		p.Children[0] = builder.Want(p.Children[0].Object(), builder.InPhase("only"))
	}
	p, q := one, two
	p.more, q.more = phased, phased
	f := newFleet(t, "a", "b")
	f.runs(p)
	f.now = f.now.Add(time.Hour)
	f.starts(q)
	f.round()
	f.round()
	f.round()
	assert.Equal(t, "web:2 web:1", f.images())
	f.becomesReady("a")
	f.round()
	f.round()
	assert.Equal(t, "web:2 web:2", f.images())
}
