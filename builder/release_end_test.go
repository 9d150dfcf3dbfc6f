package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/turns"
)

// A roll-out ends with its last owner, whatever a user has done to the record meanwhile: no other owner has a pass any more.
func TestTheLastOwnerCompletesTheRollout(t *testing.T) {
	for name, decide := range map[string]func(f *fleet){
		"resumed": func(f *fleet) {
			f.decide(func(r *turns.Record) { r.Passed = append(r.Passed, "default/a") })
		},
		"aborted": func(f *fleet) {
			f.decide(func(r *turns.Record) { r.State = turns.Aborted })
		},
		"record deleted": func(f *fleet) {
			record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "rollout-flow"}}
			require.NoError(f, f.world.Delete(f.Context(), record))
			f.now = f.now.Add(10 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a", "b", "c")
			f.runs(one)
			f.now = f.now.Add(time.Hour)
			onlyA := program{build: "2222222222", image: "web:1", limit: "1"}
			onlyA.more = func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) { // its build disrupts one owner
				if flow.Name == "a" {
					deployment := plan.Children[0].Object().(*appsv1.Deployment)
					deployment.Spec.Template.Spec.Containers[0].Image = "web:2"
					plan.Children[0] = builder.Want(deployment)
				}
			}
			f.starts(onlyA)
			f.round()
			f.round()
			require.Equal(t, "web:2 web:1 web:1", f.images())

			f.now = f.now.Add(11 * time.Minute)
			f.pass("a")
			require.Equal(t, "RolloutHalted ChangedByUser ChangedByUser", f.marks())
			decide(f)
			f.becomesReady("a")
			f.pass("a")
			f.pass("a")
			assert.Equal(t, turns.Complete, f.record().State)
			assert.Equal(t, "Released ChangedByUser ChangedByUser", f.marks())
		})
	}
}
