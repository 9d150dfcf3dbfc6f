package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
	"github.com/armature-dev/armature/store"
)

func TestTheWorseOfTwoCounts(t *testing.T) {
	ready := readiness.Status{}
	slow := readiness.Status{State: readiness.InProgress, Why: "1 of 2 replicas ready"}
	broken := readiness.Status{State: readiness.Failed, Why: "ProgressDeadlineExceeded"}
	tests := map[string]struct {
		own    readiness.Status
		others Health
		want   readiness.Status
	}{
		"all is well":            {ready, Health{}, ready},
		"it is slow itself":      {slow, Health{}, slow},
		"others say it's unwell": {ready, Health{Unwell: true, Why: "restarted"}, readiness.Status{State: readiness.InProgress, Why: "restarted"}},
		"both are slow":          {slow, Health{Unwell: true, Why: "restarted"}, readiness.Status{State: readiness.InProgress, Why: "restarted"}},
		"others say it failed":   {slow, Health{Failed: true, Why: "pod a crashes"}, readiness.Status{State: readiness.Failed, Why: "pod a crashes"}},
		"both have failed":       {broken, Health{Failed: true, Why: "pod a crashes"}, readiness.Status{State: readiness.Failed, Why: "pod a crashes"}},
		"failed and unwell":      {broken, Health{Unwell: true, Why: "restarted"}, broken},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := Want(&appsv1.Deployment{}, HealthFrom(func(client.Object) Health { return tt.others }))
			assert.Equal(t, tt.want, c.examined(tt.own, &appsv1.Deployment{}))
		})
	}
	assert.Equal(t, slow, Want(&appsv1.Deployment{}, HealthFrom(nil)).examined(slow, &appsv1.Deployment{}))
}

// A child that fails by what others say halts the roll-out, and is named.
func TestHealthHaltsARollOut(t *testing.T) {
	w := newTown(t)
	sick, pod := "", "-0"
	w.change = func(b *Builder) {
		for i := range b.wants {
			b.wants[i].health = func(child client.Object) Health {
				return Health{Failed: child.GetName() == sick, Why: "pod " + child.GetName() + pod + ": CrashLoopBackOff"}
			}
		}
	}
	w.install()
	w.images["controller"], w.images["broker"] = "v2", "v2"
	sick = "controller"
	res := w.pass()
	require.NotNil(t, res.Halted)
	assert.Equal(t, "phase controller: Deployment.apps default/controller: pod controller-0: CrashLoopBackOff", res.Halted.String())
	assert.Equal(t, []store.Key{keyOf("broker")}, res.Held)
	assert.Equal(t, []string{"RolloutCompleted", "RolloutStarted", "RolloutHalted"}, w.told)
	pod = "-1"
	assert.Contains(t, w.pass().Halted.String(), "controller-1")
	assert.Len(t, w.told, 3, "that it has halted is told once, whatever else is wrong with the child")

	w.settle("controller")
	assert.Equal(t, "v2 v1 v1", w.running(), "what the child says of itself isn't enough")
	w.pass()
	sick = ""
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running())
}
