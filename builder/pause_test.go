package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// For a paused owner nothing is written but the condition Paused, once, whatever the plan desires. Afterwards the condition goes, also
// if the plan sets the conditions itself. A deletion isn't held up.
func TestPause(t *testing.T) {
	for name, report := range map[string]bool{"with Report": true, "with conditions of the plan's": false} {
		t.Run(name, func(t *testing.T) {
			flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "f", UID: "uid"}}
			server := buildertest.NewServer(flowScheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}), buildertest.WithObjects(flow))
			c := server.Client("operator")
			text := "1"
			r, err := buildertest.NewReconciler(builder.NewOperator[*v1alpha1.JobFlow](nil, "jobflow").Owns(&corev1.ConfigMap{}).
				Plan(func(flow *v1alpha1.JobFlow, _ builder.View) builder.Plan[*v1alpha1.JobFlow] {
					plan := builder.Plan[*v1alpha1.JobFlow]{Report: report, Status: flow.DeepCopy(), Children: []builder.Child{
						builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"text": text}}),
					}}
					return plan
				}), c, time.Now)
			require.NoError(t, err)
			key := client.ObjectKeyFromObject(flow)
			pass := func() int {
				before := len(server.Ledger().Writes())
				_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
				require.NoError(t, err)
				return len(server.Ledger().Writes()) - before
			}
			now := func() *v1alpha1.JobFlow {
				require.NoError(t, c.Get(t.Context(), key, flow))
				return flow
			}
			annotate := func(value string) {
				now().Annotations = map[string]string{"armature.dev/paused": value}
				require.NoError(t, c.Update(t.Context(), flow))
			}
			pass()
			pass()
			ready := meta.FindStatusCondition(now().Status.Conditions, events.ConditionReady)

			annotate("true")
			text = "2"
			assert.Equal(t, 1, pass(), "the condition")
			is := meta.FindStatusCondition(now().Status.Conditions, events.ConditionPaused)
			require.NotNil(t, is)
			assert.Equal(t, metav1.ConditionTrue, is.Status)
			assert.Equal(t, `the operator writes nothing while the annotation armature.dev/paused is "true"`, is.Message)
			assert.Equal(t, ready, meta.FindStatusCondition(flow.Status.Conditions, events.ConditionReady), "as it was")
			assert.Zero(t, pass())

			annotate("false")
			assert.NotZero(t, pass())
			assert.Nil(t, meta.FindStatusCondition(now().Status.Conditions, events.ConditionPaused))
			var child corev1.ConfigMap
			require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "c"}, &child))
			assert.Equal(t, "2", child.Data["text"])
			assert.Zero(t, pass())
		})
	}
}

// A Builder in a reconciler of one's own does the same.
func TestPausedBuilder(t *testing.T) {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "owner", UID: "uid", Annotations: map[string]string{"armature.dev/paused": "true"},
	}}
	server := buildertest.NewServer(flowScheme, buildertest.WithObjects(owner))
	engine := builder.NewEngine(server.Client("operator"), builder.Options{Name: "operator"})
	res, err := engine.For(owner).ConfigMap(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}).Reconcile(t.Context())
	require.NoError(t, err)
	assert.Empty(t, server.Ledger().Writes())
	conditions := []metav1.Condition{{Type: events.ConditionReady, Status: metav1.ConditionTrue}}
	res.SetConditions(&conditions, 1, nil, time.Now())
	assert.True(t, meta.IsStatusConditionTrue(conditions, events.ConditionPaused))
	assert.True(t, meta.IsStatusConditionTrue(conditions, events.ConditionReady))
}
