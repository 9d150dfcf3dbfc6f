package builder

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/events"
)

// counter is an operator that writes a number into its owner's status, with an event.
type counter struct {
	t          *testing.T
	reconciler *reconciler[*appsv1.Deployment]
	now        time.Time
	number     int32
	canWait    time.Duration
	want       []Child
	writes     []int32 // statuses that were written
	told       []string
	writeErr   error
}

func (c *counter) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	c.told = append(c.told, reason)
}

func newCounter(t *testing.T, owners ...client.Object) *counter {
	c := &counter{t: t, now: time.Unix(1_000_000, 0), canWait: time.Second}
	api := fake.NewClientBuilder().WithObjects(owners...).WithStatusSubresource(&appsv1.Deployment{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, api client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				if c.writeErr != nil {
					return c.writeErr
				}
				err := api.SubResource(sub).Patch(ctx, obj, patch, opts...)
				c.writes = append(c.writes, obj.(*appsv1.Deployment).Status.Replicas)
				return err
			},
		}).Build()
	o := NewOperator[*appsv1.Deployment](nil, "counter").Owns(&corev1.ConfigMap{}).Plan(func(owner *appsv1.Deployment, _ View) Plan[*appsv1.Deployment] {
		after := *owner
		after.Status.Replicas = c.number
		return Plan[*appsv1.Deployment]{
			Status: &after, StatusCanWait: c.canWait, Children: c.want, Events: []events.Event{events.Normal("Counted", "")},
		}
	})
	o.engine = NewEngine(api, Options{Recorder: c})
	var err error
	c.reconciler, err = o.newReconciler()
	require.NoError(t, err)
	c.reconciler.now = func() time.Time { return c.now }
	return c
}

// pass runs a pass and returns when the next shall be.
func (c *counter) pass(name string) time.Duration {
	c.t.Helper()
	key := types.NamespacedName{Namespace: "default", Name: name}
	res, err := c.reconciler.Reconcile(c.t.Context(), reconcile.Request{NamespacedName: key})
	require.NoError(c.t, err)
	return res.RequeueAfter
}

func ownerWithStatus(name string) *appsv1.Deployment {
	d := deployment(name)
	d.UID = types.UID("uid-" + name)
	return d
}

func TestStatusCanWait(t *testing.T) {
	c := newCounter(t, ownerWithStatus("a"), ownerWithStatus("b"))
	c.number = 1
	assert.Zero(t, c.pass("a"))
	assert.Equal(t, []int32{1}, c.writes, "the first is written at once")
	assert.Equal(t, []string{"Counted"}, c.told)

	c.now = c.now.Add(300 * time.Millisecond)
	c.number = 2
	assert.Equal(t, 700*time.Millisecond, c.pass("a"), "the rest of the second")
	c.number = 3
	c.now = c.now.Add(300 * time.Millisecond)
	assert.Equal(t, 400*time.Millisecond, c.pass("a"))
	assert.Equal(t, []int32{1}, c.writes)
	assert.Equal(t, []string{"Counted"}, c.told, "events wait with the status")

	assert.Zero(t, c.pass("b"))
	assert.Equal(t, []int32{1, 3}, c.writes, "another owner has a time of its own")

	c.now = c.now.Add(400 * time.Millisecond)
	assert.Zero(t, c.pass("a"))
	assert.Equal(t, []int32{1, 3, 3}, c.writes, "several changes, one write")
	assert.Equal(t, []string{"Counted", "Counted", "Counted"}, c.told)
	assert.Zero(t, c.pass("a"), "nothing to write is nothing to put off")
	assert.Len(t, c.told, 4)

	c.number = 2
	c.now = c.now.Add(time.Minute)
	assert.Equal(t, 250*time.Millisecond, c.pass("a"), "what follows at once is written with it")
	c.now = c.now.Add(200 * time.Millisecond)
	c.number = 3
	assert.Zero(t, c.pass("a"), "it was taken back")
	c.number = 2
	assert.Equal(t, 250*time.Millisecond, c.pass("a"))
	c.now = c.now.Add(200 * time.Millisecond)
	c.number = 4
	assert.Equal(t, 50*time.Millisecond, c.pass("a"), "since the first change")
	c.now = c.now.Add(50 * time.Millisecond)
	assert.Zero(t, c.pass("a"))
	assert.Equal(t, []int32{1, 3, 3, 4}, c.writes)

	c.number, c.canWait = 5, 0
	assert.Zero(t, c.pass("a"))
	assert.Equal(t, []int32{1, 3, 3, 4, 5}, c.writes, "one that can't wait is written at once")
	c.number, c.canWait = 6, time.Second
	assert.Equal(t, time.Second, c.pass("a"), "since that one")
	c.now = c.now.Add(-time.Hour)
	assert.Equal(t, time.Second, c.pass("a"), "a clock that was put back")
}

func TestStatusThatCouldNotBeWrittenWasNotWritten(t *testing.T) {
	c := newCounter(t, ownerWithStatus("a"))
	c.writeErr = apierrors.NewConflict(schema.GroupResource{}, "a", nil)
	c.number = 1
	assert.Equal(t, conflictDelay, c.pass("a"))
	c.writeErr = nil
	assert.Zero(t, c.pass("a"))
	assert.Equal(t, []int32{1}, c.writes)
}

func TestStatusOfAFailureCannotWait(t *testing.T) {
	c := newCounter(t, ownerWithStatus("a"))
	c.number = 1
	c.pass("a")
	c.number = 2
	c.want = []Child{Want(config(""))}
	_, err := c.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}})
	require.ErrorIs(t, err, ErrMisuse)
	assert.Equal(t, []int32{1, 2}, c.writes)
}

func TestConditionsAreSetOnACopy(t *testing.T) {
	owner := &thing{conditions: []metav1.Condition{{Type: events.ConditionReady, Reason: "Before"}}}
	owner.Spec.Paused = true
	after := withOwnConditions(owner)
	(*after.Conditions())[0].Reason = "After"
	assert.Equal(t, "Before", owner.conditions[0].Reason)
	assert.True(t, after.Spec.Paused)

	behind := &pointing{status: &thing{conditions: owner.conditions}}
	copied := withOwnConditions(behind)
	(*copied.Conditions())[0].Reason = "After"
	assert.Equal(t, "Before", owner.conditions[0].Reason)
}

// pointing is an owner whose status is behind a pointer.
type pointing struct {
	appsv1.Deployment
	status *thing
}

func (o *pointing) Conditions() *[]metav1.Condition { return &o.status.conditions }
func (o *pointing) DeepCopyObject() runtime.Object {
	return &pointing{*o.DeepCopy(), o.status.DeepCopyObject().(*thing)}
}
