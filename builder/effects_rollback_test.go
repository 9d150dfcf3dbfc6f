package builder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/builder/effects/effectstest"
	"github.com/armature-dev/armature/builder/rollout"
)

// provisions is an operator with an effect for each word of the owner's annotation "effects", in a phase before a Deployment of the
// annotation "image".
func provisions(performer effects.Performer) *builder.Operator[*v1alpha1.JobFlow] {
	return builder.NewOperator[*v1alpha1.JobFlow](nil, "provisions").
		Owns(&appsv1.ControllerRevision{}, effects.PerformedBy("things", performer, effects.Options{})).
		Owns(&appsv1.Deployment{}).
		Plan(func(owner *v1alpha1.JobFlow, _ builder.View) builder.Plan[*v1alpha1.JobFlow] {
			labels := map[string]string{"app": owner.Name}
			p := builder.Plan[*v1alpha1.JobFlow]{
				Report: true, Prune: []client.Object{&appsv1.Deployment{}},
				Rollout: rollout.Options{Phases: []string{"things", "app"}, RollbackAfter: time.Minute},
				Children: []builder.Child{builder.Want(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: owner.Name}, Spec: appsv1.DeploymentSpec{
					Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
						Containers: []corev1.Container{{Name: "main", Image: owner.Annotations["image"]}},
					}},
				}}, builder.InPhase("app"))},
			}
			for key := range strings.FieldsSeq(owner.Annotations["effects"]) {
				p.Children = append(p.Children, effects.Want(owner, effects.Effect{Performer: "things", Key: key, Payload: key}, builder.InPhase("things")))
			}
			return p
		})
}

// provisioned runs an operator of [provisions] through an upgrade that is rolled back, from some effects to others. It returns what is
// outside then, the calls, and the result of a last pass, whose requests are in the ledger.
func provisioned(t *testing.T, from, to string) (things map[string]string, calls []string, last reconcile.Result, ledger *buildertest.Ledger) {
	t.Helper()
	owner := migrated("")
	owner.Annotations = map[string]string{"effects": from, "image": "v1"}
	server := buildertest.NewServer(flowScheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}), buildertest.WithObjects(owner))
	process, user := server.Client("provisions"), server.Client("user")
	system := new(effectstest.System)
	r, err := buildertest.NewReconciler(provisions(system.Through(process)), process, process.Now)
	require.NoError(t, err)
	pass := func() reconcile.Result {
		res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
		require.NoError(t, err)
		return res
	}
	settle := func() {
		for range 10 {
			pass()
		}
	}
	ready := func() {
		var d appsv1.Deployment
		require.NoError(t, user.Get(t.Context(), client.ObjectKeyFromObject(owner), &d))
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		require.NoError(t, user.Status().Update(t.Context(), &d))
	}
	settle()
	ready()
	settle()
	require.NoError(t, buildertest.Change(owner, func(o *v1alpha1.JobFlow) {
		o.Annotations["effects"], o.Annotations["image"] = to, "v2"
	})(t.Context(), user))
	settle()
	server.Clock().Step(2 * time.Minute)
	settle() // restores v1
	ready()
	settle()
	process.Ledger().Reset()
	last = pass()
	things, err = effectstest.Things(t.Context(), process)
	require.NoError(t, err)
	return things, system.Calls(), last, process.Ledger()
}

// A rollback undoes the effects that the failed revision has added.
func TestRollbackUndoesAddedEffects(t *testing.T) {
	things, calls, _, _ := provisioned(t, "database", "database cache")
	assert.Equal(t, map[string]string{"database": `"database"`}, things)
	assert.Contains(t, calls, "undo cache")
}

// A rollback keeps the effects that the failed revision has dropped, and comes to rest.
func TestRollbackKeepsDroppedEffects(t *testing.T) {
	things, _, last, ledger := provisioned(t, "database", "")
	assert.Equal(t, map[string]string{"database": `"database"`}, things)
	assert.Zero(t, last)
	assert.Equal(t, 1, ledger.Count(buildertest.VerbList, schema.GroupKind{Group: "apps", Kind: "ControllerRevision"}), "the journals aren't looked for")
}
