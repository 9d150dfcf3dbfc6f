package builder_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/events"
)

// A manager that was killed during the pass of an owner starts with that owner put off and all others at work. The owner says so
// until its pass has ended well.
func TestQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flow := func(name string) *v1alpha1.JobFlow {
			return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "uid"}}
		}
		bad, good := flow("bad"), flow("good")
		good.UID = "another"
		server := buildertest.NewServer(flowScheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}), buildertest.WithObjects(bad, good))
		c := server.Client("operator")
		dir := filepath.Join(t.TempDir(), "state")
		passes := map[string]bool{}
		during := func(string) {}
		process := func() reconcile.Reconciler {
			quarantine, err := inflight.Open(dir, time.Now)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, quarantine.Close()) })
			r, err := buildertest.NewReconciler(builder.Quarantined(builder.NewOperator[*v1alpha1.JobFlow](nil, "jobflow"), quarantine).Owns(&batchv1.Job{}).
				Plan(func(flow *v1alpha1.JobFlow, _ builder.View) builder.Plan[*v1alpha1.JobFlow] {
					passes[flow.Name] = true
					during(flow.Name)
					return builder.Plan[*v1alpha1.JobFlow]{Children: []builder.Child{builder.Want(newJob(flow.Name))}}
				}), c, time.Now)
			require.NoError(t, err)
			return r
		}
		pass := func(r reconcile.Reconciler, name string) time.Duration {
			res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: name}})
			require.NoError(t, err)
			return res.RequeueAfter
		}
		ready := func(name string) *metav1.Condition {
			found := flow(name)
			require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(found), found))
			return meta.FindStatusCondition(found.Status.Conditions, events.ConditionReady)
		}

		var second reconcile.Reconciler
		during = func(string) { second = process() } // as if the first were killed now
		pass(process(), "bad")
		during = func(string) {}
		passes = map[string]bool{}
		killed := time.Now().UTC().Format(time.RFC3339)

		assert.Equal(t, 10*time.Second, pass(second, "bad"))
		assert.Zero(t, pass(second, "good"))
		assert.Equal(t, map[string]bool{"good": true}, passes)
		condition := ready("bad")
		require.NotNil(t, condition)
		assert.Equal(t, metav1.ConditionFalse, condition.Status)
		assert.Equal(t, events.ReasonQuarantined, condition.Reason)
		assert.Equal(t, "the manager ended unexpectedly once while it worked on this object, last before "+killed+
			"; it is tried again at "+time.Now().Add(10*time.Second).UTC().Format(time.RFC3339)+
			". If it happens again, make the object smaller or delete it, or give the manager more memory", condition.Message)
		assert.Nil(t, ready("good"))
		c.Ledger().Reset()
		time.Sleep(4 * time.Second)
		assert.Equal(t, 6*time.Second, pass(second, "bad"))
		assert.Empty(t, c.Ledger().Writes(), "it has been said")

		time.Sleep(6 * time.Second)
		assert.Zero(t, pass(second, "bad"))
		assert.True(t, passes["bad"])
		assert.Nil(t, ready("bad"))
	})
}
