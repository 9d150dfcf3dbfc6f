package builder

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// notes are the events that were emitted, each as "Reason: note".
type notes []string

func (n *notes) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	*n = append(*n, reason+": "+fmt.Sprintf(note, args...))
}

// flowLoop is an operator of a JobFlow as a manager runs it.
type flowLoop struct {
	t          *testing.T
	reconciler *reconciler[*v1alpha1.JobFlow]
	told       notes
	get        func() *v1alpha1.JobFlow
}

func newFlowLoop(t *testing.T, plan PlanFunc[*v1alpha1.JobFlow]) *flowLoop {
	t.Helper()
	f := &flowLoop{t: t}
	e, get, _ := flowOn(t, Options{Recorder: &f.told}, nil)
	o := NewOperator[*v1alpha1.JobFlow](nil, "test").Owns(&batchv1.Job{}).Plan(plan)
	o.engine = e
	var err error
	f.reconciler, err = o.newReconciler()
	require.NoError(t, err)
	f.get = get
	return f
}

// pass runs one pass and returns its events and its error.
func (f *flowLoop) pass() ([]string, error) {
	f.told = nil
	_, err := f.reconciler.Reconcile(f.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.get())})
	return f.told, err
}

// conditions says how Ready, Progressing and Stalled are ("FTF"), and why it isn't ready.
func (f *flowLoop) conditions() (how, reason, message string) {
	for _, kind := range []string{events.ConditionReady, events.ConditionProgressing, events.ConditionStalled} {
		c := meta.FindStatusCondition(f.get().Status.Conditions, kind)
		if c == nil {
			how += "-"
			continue
		}
		how += string(c.Status[0])
		if kind == events.ConditionReady {
			reason, message = c.Reason, c.Message
		}
	}
	return how, reason, message
}

// A plan that waits isn't ready, says for what, and tells of it once.
func TestPlanWaits(t *testing.T) {
	plan := Plan[*v1alpha1.JobFlow]{Report: true, WaitingFor: []string{"Secret shop/tls", "the migration"}}
	f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] { return plan })
	for i := range 2 {
		told, err := f.pass()
		require.NoError(t, err)
		how, reason, message := f.conditions()
		assert.Equal(t, "FTF", how)
		assert.Equal(t, events.ReasonWaiting, reason)
		assert.Equal(t, "waiting for Secret shop/tls; the migration", message)
		if i == 0 {
			assert.Equal(t, []string{"Waiting: " + message}, told)
		} else {
			assert.Empty(t, told, "it goes on waiting")
		}
	}
	plan.WaitingFor = plan.WaitingFor[1:]
	told, err := f.pass()
	require.NoError(t, err)
	assert.Equal(t, []string{"Waiting: waiting for the migration"}, told)

	plan.WaitingFor = nil
	told, err = f.pass()
	require.NoError(t, err)
	assert.Empty(t, told)
	how, _, _ := f.conditions()
	assert.Equal(t, "TFF", how)
}

// What has failed is more urgent than what is waited for, which is more urgent than what is on its way.
func TestWaitingForAmongConditions(t *testing.T) {
	slow := ChildStatus{Key: keyOf("slow"), Reason: events.ReasonChildrenNotReady, Message: "0 of 1"}
	broken := ChildStatus{Key: keyOf("broken"), Reason: events.ReasonChildFailed, Message: "crashed"}
	waits := []string{"Secret shop/tls"}
	assert.Equal(t, events.ReasonWaiting, Result{planWaitsFor: waits, Pending: []ChildStatus{slow}}.outcome(nil).Reason)
	assert.Equal(t, events.ReasonChildFailed, Result{planWaitsFor: waits, Pending: []ChildStatus{broken}}.outcome(nil).Reason)
	assert.Equal(t, "ApplyFailed", Result{planWaitsFor: waits}.outcome(of(full)).Reason)
}

// A panic is in the conditions, told once, and taken back when the plan is right again.
func TestPanicIsReported(t *testing.T) {
	wrong := true
	f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] {
		if wrong {
			panic("a bug in the plan")
		}
		return Plan[*v1alpha1.JobFlow]{}
	})
	for i := range 2 {
		told, err := f.pass()
		require.ErrorIs(t, err, ErrMisuse)
		require.ErrorIs(t, err, reconcile.TerminalError(nil), "not tried again")
		how, reason, message := f.conditions()
		assert.Equal(t, "F-T", how)
		assert.Equal(t, "InvalidPlan", reason)
		assert.Contains(t, message, "a bug in the plan")
		assert.Len(t, told, 1-i)
	}
	wrong = false
	_, err := f.pass()
	require.NoError(t, err)
	how, _, _ := f.conditions()
	assert.Equal(t, "---", how)
}

// So is a panic of Finish, and a status that the API server would refuse, with which it would refuse all that it reports.
func TestWrongStatusIsReported(t *testing.T) {
	with := func(condition metav1.Condition) Plan[*v1alpha1.JobFlow] {
		after := &v1alpha1.JobFlow{}
		after.Status.Conditions = []metav1.Condition{condition}
		return Plan[*v1alpha1.JobFlow]{Status: after}
	}
	now := metav1.Now()
	for says, plan := range map[string]Plan[*v1alpha1.JobFlow]{
		"Plan.Finish panicked: a bug": {Finish: func(*v1alpha1.JobFlow, Result) { panic("a bug") }},
		"Finish panicked":             {Report: true, Finish: func(*v1alpha1.JobFlow, Result) { panic("a bug") }},
		"status.conditions[0].type":   with(metav1.Condition{Type: "Not valid", Status: "True", Reason: "A", LastTransitionTime: now}),
		"status.conditions[0].reason": with(metav1.Condition{Type: "A", Status: "True", Reason: "not valid", LastTransitionTime: now}),
		"status.conditions[0].status": with(metav1.Condition{Type: "A", Status: "Yes", Reason: "A", LastTransitionTime: now}),
		"lastTransitionTime":          with(metav1.Condition{Type: "A", Status: "True", Reason: "A"}),
	} {
		f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] { return plan })
		for i := range 2 {
			told, err := f.pass()
			require.ErrorIs(t, err, ErrMisuse, says)
			_, reason, message := f.conditions()
			assert.Equal(t, "InvalidPlan", reason, says)
			assert.Contains(t, message, says)
			assert.Len(t, told, 1-i, says)
		}
	}
}

// Finish receives a shallow copy, which shares the owner's maps with the cache.
func TestFinishThatChangesTheOwner(t *testing.T) {
	f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] {
		return Plan[*v1alpha1.JobFlow]{Report: true, Finish: func(after *v1alpha1.JobFlow, _ Result) { after.Labels["a"] = "b" }}
	})
	f.reconciler.guard.Copies = true
	flow := f.get()
	flow.Labels = map[string]string{"a": "a"}
	require.NoError(t, f.reconciler.engine.client.Update(t.Context(), flow))
	_, err := f.pass()
	require.ErrorIs(t, err, ErrMisuse)
	assert.ErrorContains(t, err, "Finish) changes the owner *v1alpha1.JobFlow")
	assert.ErrorContains(t, err, "metadata.labels")
}

// A plan whose children depend on more than its arguments doesn't run for ever on its own writes.
func TestImpurePlanIsStopped(t *testing.T) {
	number := int32(0)
	f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] {
		number++
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		job.Spec.Parallelism = new(number)
		return Plan[*v1alpha1.JobFlow]{Children: []Child{Want(job)}}
	})
	var err error
	for range 64 {
		if _, err = f.pass(); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, ErrMisuse)
	require.ErrorContains(t, err, "*v1.Job default/a has another spec.parallelism")
	_, reason, _ := f.conditions()
	assert.Equal(t, "InvalidPlan", reason)
}

// A running manager reports a plan that changes its owner once, and goes on.
func TestChangedOwnerIsReportedOnce(t *testing.T) {
	number := int32(0)
	f := newFlowLoop(t, func(flow *v1alpha1.JobFlow, _ View) Plan[*v1alpha1.JobFlow] {
		number++
		flow.Labels = map[string]string{"number": fmt.Sprint(number)}
		return Plan[*v1alpha1.JobFlow]{}
	})
	var told []string
	for range 3 {
		more, err := f.pass()
		require.NoError(t, err)
		told = append(told, more...)
	}
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "InvalidPlan: builder misused: the plan (or its Finish) changes the owner *v1alpha1.JobFlow")
}
