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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/events"
)

// thing is an owner with conditions.
type thing struct {
	appsv1.Deployment
	conditions []metav1.Condition
}

func (o *thing) Conditions() *[]metav1.Condition { return &o.conditions }
func (o *thing) DeepCopyObject() runtime.Object {
	return &thing{*o.DeepCopy(), append([]metav1.Condition(nil), o.conditions...)}
}

func TestPatchStatus(t *testing.T) {
	before := deployment("web")
	var patches []string
	c := fake.NewClientBuilder().WithObjects(before).WithStatusSubresource(before).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			data, _ := patch.Data(obj)
			patches = append(patches, string(data))
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	}).Build()
	e := NewEngine(c, Options{})
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(before), before))

	after := before.DeepCopy()
	require.NoError(t, e.writeChangedStatus(t.Context(), before, after))
	after.Spec.Paused = true
	after.Status.Conditions = []appsv1.DeploymentCondition{}
	require.NoError(t, e.writeChangedStatus(t.Context(), before, after))
	assert.Empty(t, patches, "nothing of the status differs")

	after.Status.Replicas, after.Status.ReadyReplicas = 3, 2
	require.NoError(t, e.writeChangedStatus(t.Context(), before, after))
	require.Len(t, patches, 1)
	assert.JSONEq(t, `{"metadata":{"resourceVersion":"`+before.ResourceVersion+`"},"status":{"replicas":3,"readyReplicas":2}}`, patches[0])
	assert.Zero(t, before.Status.Replicas, "the arguments stay as they are")

	err := e.writeChangedStatus(t.Context(), before, after) // before is old by now
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	assert.True(t, isConflict(err))

	before.Name = "gone"
	assert.NoError(t, e.writeChangedStatus(t.Context(), before, after), "an owner that is gone needs no status")
}

func TestPatchStatusMisused(t *testing.T) {
	e := NewEngine(fake.NewClientBuilder().Build(), Options{})
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	for name, pair := range map[string][2]client.Object{
		"nil":        {nil, nil},
		"typed nil":  {(*corev1.Pod)(nil), (*corev1.Pod)(nil)},
		"nil before": {(*corev1.Pod)(nil), &corev1.Pod{}},
		"types":      {&corev1.Pod{}, &corev1.Secret{}},
		"no status":  {config, config.DeepCopy()},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorIs(t, e.writeChangedStatus(t.Context(), pair[0], pair[1]), ErrMisuse)
		})
	}
}

func TestWhyAStatusIsNotFound(t *testing.T) {
	owner := deployment("web")
	owner.UID = "1"
	c := fake.NewClientBuilder().WithObjects(owner).Build()
	e := NewEngine(c, Options{})
	assert.ErrorIs(t, e.explainNotFound(t.Context(), owner), ErrMisuse, "it is there, so its status isn't")

	replaced := owner.DeepCopy()
	replaced.UID = "2"
	assert.NoError(t, e.explainNotFound(t.Context(), replaced))
	require.NoError(t, c.Delete(t.Context(), owner.DeepCopy()))
	assert.NoError(t, e.explainNotFound(t.Context(), owner))
}

func TestReported(t *testing.T) {
	reported := func(owner, planned *thing, err error, now time.Time) *thing {
		after, statusErr := statusAfter(owner, Plan[*thing]{Status: planned}, Result{}, err, now)
		require.NoError(t, statusErr)
		return after
	}
	then, now := metav1.NewTime(time.Unix(1000, 0)), time.Unix(2000, 0)
	ready := metav1.Condition{Type: events.ConditionReady, Status: metav1.ConditionTrue, Reason: "Fine", LastTransitionTime: then}
	failed := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: events.ReasonApplyFailed, LastTransitionTime: then}
	}
	stalledByPlan := metav1.Condition{Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: "InvalidSpec", LastTransitionTime: then}
	cases := map[string]struct {
		had  []metav1.Condition
		err  error
		want map[string]string // type -> status and reason
		same bool
	}{
		"all well":                    {[]metav1.Condition{ready}, nil, map[string]string{"Ready": "True Fine"}, true},
		"conflict":                    {[]metav1.Condition{ready}, of(conflict), map[string]string{"Ready": "True Fine"}, true},
		"transient":                   {[]metav1.Condition{ready}, of(full), map[string]string{"Ready": "False ApplyFailed"}, false},
		"terminal":                    {[]metav1.Condition{ready}, of(invalid), map[string]string{"Ready": "False ApplyFailed", "Stalled": "True ApplyFailed"}, false},
		"not owned":                   {nil, of(ErrNotOwned), map[string]string{"Ready": "False NotOwned"}, false},
		"terminal, then transient":    {[]metav1.Condition{failed("Ready", "False"), failed("Stalled", "True")}, of(full), map[string]string{"Ready": "False ApplyFailed"}, false},
		"terminal, then well":         {[]metav1.Condition{failed("Ready", "False"), failed("Stalled", "True")}, nil, map[string]string{}, false},
		"the plan's own Stalled":      {[]metav1.Condition{ready, stalledByPlan}, nil, map[string]string{"Ready": "True Fine", "Stalled": "True InvalidSpec"}, true},
		"transient beside the plan's": {[]metav1.Condition{stalledByPlan}, of(full), map[string]string{"Ready": "False ApplyFailed", "Stalled": "True InvalidSpec"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			owner := &thing{conditions: c.had}
			owner.Generation = 3
			got := reported(owner, nil, c.err, now)
			assert.Equal(t, c.same, got == owner)
			assert.Equal(t, c.had, owner.conditions, "the owner stays as it is")
			told := map[string]string{}
			for _, cond := range got.conditions {
				told[cond.Type] = string(cond.Status) + " " + cond.Reason
				if cond.ObservedGeneration != 0 {
					assert.Equal(t, int64(3), cond.ObservedGeneration)
				}
			}
			assert.Equal(t, c.want, told)
		})
	}
	again := reported(&thing{conditions: []metav1.Condition{failed("Ready", "False"), failed("Stalled", "True")}}, nil, of(invalid), now)
	for _, kind := range []string{events.ConditionReady, events.ConditionStalled} {
		assert.Equal(t, then, meta.FindStatusCondition(again.conditions, kind).LastTransitionTime, "since then")
	}
	planned := &thing{conditions: []metav1.Condition{ready}}
	again = reported(&thing{conditions: []metav1.Condition{failed("Ready", "False")}}, planned, of(full), now)
	assert.Equal(t, then, meta.FindStatusCondition(again.conditions, events.ConditionReady).LastTransitionTime, "whatever the plan sets in each pass")
	plain := deployment("web")
	same, err := statusAfter(plain, Plan[*appsv1.Deployment]{}, Result{}, of(invalid), now)
	require.NoError(t, err)
	assert.Same(t, plain, same, "no conditions to report in")
}
