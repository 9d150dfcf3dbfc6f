package builder

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/store"
)

func keyOf(name string) store.Key {
	return store.Key{Group: "apps", Kind: "Deployment", Namespace: "default", Name: name}
}

func TestSetConditions(t *testing.T) {
	leaving := ChildStatus{Key: keyOf("old"), Reason: events.ReasonWaiting}
	slow := ChildStatus{Key: keyOf("slow"), Reason: events.ReasonChildrenNotReady, Message: "1 of 3 replicas updated"}
	broken := ChildStatus{Key: keyOf("broken"), Reason: events.ReasonChildFailed, Message: "ProgressDeadlineExceeded"}
	cases := map[string]struct {
		res     Result
		err     error
		want    string // Ready, Progressing, Stalled
		reason  string
		message string
	}{
		"done":      {Result{}, nil, "TFF", events.ReasonReady, "all children are up to date"},
		"invalid":   {Result{Pending: []ChildStatus{slow}}, of(invalid), "FFT", "ApplyFailed", ""},
		"quota":     {Result{}, of(full), "FTF", "ApplyFailed", ""},
		"not owned": {Result{}, of(ErrNotOwned), "FTF", "NotOwned", ""},
		"leaving":   {Result{Pending: []ChildStatus{leaving, slow}}, nil, "FTF", events.ReasonWaiting, "waiting for the deletion of Deployment.apps default/old"},
		"slow":      {Result{Pending: []ChildStatus{slow}}, nil, "FTF", events.ReasonChildrenNotReady, "waiting for Deployment.apps default/slow: 1 of 3 replicas updated"},
		"broken":    {Result{Pending: []ChildStatus{broken}}, nil, "FFT", events.ReasonChildFailed, "Deployment.apps default/broken: ProgressDeadlineExceeded"},
		"both": {Result{Pending: []ChildStatus{slow, broken}}, nil, "FTT", events.ReasonChildFailed,
			"Deployment.apps default/broken: ProgressDeadlineExceeded; Deployment.apps default/slow: 1 of 3 replicas updated"},
		"many": {Result{Pending: []ChildStatus{slow, slow, slow, slow, slow}}, nil, "FTF", events.ReasonChildrenNotReady, "and 2 more"},
	}
	then, now := time.Unix(1000, 0), time.Unix(2000, 0)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var conditions []metav1.Condition
			c.res.SetConditions(&conditions, 3, c.err, then)
			told := ""
			for i, kind := range []string{events.ConditionReady, events.ConditionProgressing, events.ConditionStalled} {
				assert.Equal(t, kind, conditions[i].Type)
				told += string(conditions[i].Status[0])
				assert.Equal(t, c.reason, conditions[i].Reason)
				assert.Contains(t, conditions[i].Message, c.message)
				assert.NotEmpty(t, conditions[i].Message)
				assert.Equal(t, int64(3), conditions[i].ObservedGeneration)
			}
			assert.Equal(t, c.want, told)

			before := append([]metav1.Condition(nil), conditions...)
			c.res.SetConditions(&conditions, 3, c.err, now)
			assert.Equal(t, before, conditions, "the same result sets nothing anew")
			c.res.SetConditions(&conditions, 4, of(conflict), now)
			assert.Equal(t, before, conditions, "a conflict is no news")
			c.res.SetConditions(&conditions, 4, c.err, now)
			assert.Equal(t, int64(4), conditions[0].ObservedGeneration)
			assert.Equal(t, metav1.NewTime(then), conditions[0].LastTransitionTime, "its status is what it was")
		})
	}
}

func TestMessagesOfConditionsAreBounded(t *testing.T) {
	res := Result{}
	for i := range 1000 {
		res.Pending = append(res.Pending, ChildStatus{Key: keyOf(fmt.Sprint(strings.Repeat("n", 253), i)), Reason: events.ReasonChildrenNotReady, Message: strings.Repeat("é", 500)})
	}
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, time.Unix(0, 0))
	assert.LessOrEqual(t, len(conditions[0].Message), text.MaxSummary)
}

// flowOn returns an engine on a fake client with an owner that has conditions, and what was patched.
func flowOn(t *testing.T, o Options, clock func() time.Time) (*Engine, func() *v1alpha1.JobFlow, *[]string) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "flow", UID: "flow-uid", Generation: 3}}
	var patches []string
	c := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).
		WithObjects(flow).WithStatusSubresource(flow).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			data, _ := patch.Data(obj)
			patches = append(patches, string(data))
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	}).Build()
	return newEngine(c, o, clock, 0), func() *v1alpha1.JobFlow {
		got := &v1alpha1.JobFlow{}
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(flow), got))
		return got
	}, &patches
}

func TestReportStatus(t *testing.T) {
	now := time.Unix(1000, 0)
	e, get, patches := flowOn(t, Options{}, func() time.Time { return now })
	flow := get()
	require.NoError(t, e.ReportStatus(t.Context(), flow, flow, Result{}, nil))
	require.Len(t, *patches, 1)
	assert.Empty(t, flow.Status.Conditions, "the owner stays as it is")
	flow = get()
	ready := meta.FindStatusCondition(flow.Status.Conditions, events.ConditionReady)
	assert.Equal(t, metav1.ConditionTrue, ready.Status)
	assert.Equal(t, int64(3), ready.ObservedGeneration)
	assert.True(t, ready.LastTransitionTime.Equal(new(metav1.NewTime(now))))

	now = now.Add(time.Hour)
	require.NoError(t, e.ReportStatus(t.Context(), flow, flow, Result{}, nil))
	assert.Len(t, *patches, 1, "no request if nothing has changed")
	require.NoError(t, e.ReportStatus(t.Context(), flow, flow, Result{}, of(invalid)))
	assert.Len(t, *patches, 2)
	assert.True(t, meta.IsStatusConditionTrue(get().Status.Conditions, events.ConditionStalled))

	more := get()
	more.Status.Retry = 7
	require.NoError(t, e.ReportStatus(t.Context(), get(), more, Result{}, of(invalid)))
	assert.Len(t, *patches, 3, "what else has changed is in the same patch")
	assert.EqualValues(t, 7, get().Status.Retry)

	assert.True(t, isConflict(e.ReportStatus(t.Context(), flow, flow, Result{}, of(full))), "someone wrote since it was read")
	gone := flow.DeepCopy()
	gone.Name = "gone"
	assert.NoError(t, e.ReportStatus(t.Context(), gone, gone, Result{}, of(full)))
	leaving := get()
	leaving.DeletionTimestamp = new(metav1.Now())
	before := len(*patches)
	require.NoError(t, e.ReportStatus(t.Context(), leaving, leaving, Result{}, of(full)))
	assert.Len(t, *patches, before)
	other := flow.DeepCopy()
	other.Name, other.UID = "other", "other"
	assert.ErrorContains(t, e.ReportStatus(t.Context(), flow, other, Result{}, nil), "other")
	assert.ErrorIs(t, e.ReportStatus(t.Context(), (*v1alpha1.JobFlow)(nil), (*v1alpha1.JobFlow)(nil), Result{}, nil), ErrMisuse)
}

func TestPlanReports(t *testing.T) {
	e, get, patches := flowOn(t, Options{}, nil)
	now := time.Unix(1000, 0)
	operator := NewOperator[*v1alpha1.JobFlow](nil, "test").Owns(&appsv1.Deployment{}).Plan(func(owner *v1alpha1.JobFlow, _ View) Plan[*v1alpha1.JobFlow] {
		after := owner.DeepCopy()
		after.Status.State = v1alpha1.StateRunning
		return Plan[*v1alpha1.JobFlow]{Children: []Child{Want(deployment("web"))}, Status: after, Report: true}
	})
	r, err := operator.reconciler(e.client, func() time.Time { return now })
	require.NoError(t, err)
	pass := func() *v1alpha1.JobFlow {
		_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(get())})
		require.NoError(t, err)
		return get()
	}
	flow := pass()
	assert.Len(t, *patches, 1, "one patch a pass")
	assert.Equal(t, v1alpha1.StateRunning, flow.Status.State, "beside the plan's own status")
	ready := meta.FindStatusCondition(flow.Status.Conditions, events.ConditionReady)
	assert.Equal(t, events.ReasonChildrenNotReady, ready.Reason)
	assert.Contains(t, ready.Message, "default/web")
	now = now.Add(time.Hour)
	pass()
	assert.Len(t, *patches, 1)

	d := &appsv1.Deployment{}
	require.NoError(t, e.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, d))
	makeReady(d)
	require.NoError(t, e.client.Status().Update(t.Context(), d))
	ready = meta.FindStatusCondition(pass().Status.Conditions, events.ConditionReady)
	assert.Equal(t, metav1.ConditionTrue, ready.Status)
	assert.Equal(t, now.Unix(), ready.LastTransitionTime.Unix())
	assert.Len(t, *patches, 2)
}

func TestReportNeedsConditions(t *testing.T) {
	_, err := statusAfter(deployment("web"), Plan[*appsv1.Deployment]{Report: true}, Result{}, nil, time.Now())
	assert.ErrorIs(t, err, ErrMisuse)
}

// A plan can finish its status by what the pass came to; neither the owner nor the plan's own status are changed.
func TestAPlanFinishesItsStatus(t *testing.T) {
	owner := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f"}}
	planned := owner.DeepCopy()
	planned.Status.ObservedGeneration = 7
	finish := func(after *v1alpha1.JobFlow, res Result) {
		ready := meta.FindStatusCondition(after.Status.Conditions, events.ConditionReady)
		after.Status.State = v1alpha1.State(string(ready.Status) + string(res.Rollout.State))
	}
	res := Result{Rollout: &rollout.Status{State: rollout.Completed}}
	for generation, status := range map[int64]*v1alpha1.JobFlow{0: nil, 7: planned} {
		after, err := statusAfter(owner, Plan[*v1alpha1.JobFlow]{Status: status, Report: true, Finish: finish}, res, nil, time.Now())
		require.NoError(t, err)
		assert.EqualValues(t, "TrueCompleted", after.Status.State, "the conditions are set already")
		assert.Equal(t, generation, after.Status.ObservedGeneration)
	}
	assert.Empty(t, owner.Status)
	assert.Empty(t, planned.Status.State)
}

// Without Report the conditions are the plan's, and what went wrong stands there.
func TestAPlanFinishesItsOwnConditions(t *testing.T) {
	owner := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f"}}
	plan := Plan[*v1alpha1.JobFlow]{Finish: func(after *v1alpha1.JobFlow, res Result) {
		meta.SetStatusCondition(after.Conditions(), metav1.Condition{Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: events.ReasonWaiting, Message: res.Pending[0].Key.String()})
	}}
	res := Result{Pending: []ChildStatus{{Key: store.Key{Kind: "Pod", Namespace: "n", Name: "p"}, Reason: events.ReasonWaiting}}}
	after, err := statusAfter(owner, plan, res, nil, time.Now())
	require.NoError(t, err)
	require.Len(t, after.Status.Conditions, 1)
	assert.Equal(t, "Pod n/p", after.Status.Conditions[0].Message)
	assert.Empty(t, owner.Status)
	after, err = statusAfter(owner, plan, res, ErrNotOwned, time.Now())
	require.NoError(t, err)
	assert.NotEqual(t, events.ReasonWaiting, after.Status.Conditions[0].Reason)
}
