package minicluster

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// says checks a condition.
func (w *world) says(t *testing.T, kind string, value bool, reason string) {
	t.Helper()
	c := apimeta.FindStatusCondition(w.c.Status.Conditions, kind)
	require.NotNil(t, c, kind)
	want := metav1.ConditionFalse
	if value {
		want = metav1.ConditionTrue
	}
	assert.Equal(t, want, c.Status, "%s: %s", kind, c.Message)
	assert.Equal(t, reason, c.Reason, kind)
	assert.Equal(t, w.c.Generation, c.ObservedGeneration, kind)
}

func (w *world) hasCondition(kind string) bool {
	return apimeta.FindStatusCondition(w.c.Status.Conditions, kind) != nil
}

func TestTheJobWaitsForTheServices(t *testing.T) {
	w := newWorld(makeCluster(1, plain, func(c *v1alpha1.MiniCluster) {
		c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "db"}}
	}))
	w.pass()
	w.made = slices.DeleteFunc(w.made, func(o client.Object) bool { return o.GetName() == servicesName(w.c) }) // someone else's is in the way
	w.pass()
	assert.Nil(t, w.job)
	w.settle()
	assert.NotNil(t, w.job)
}

func TestTheCertificateIsMadeOnce(t *testing.T) {
	made := 0
	counting := Planner{NewCertificate: func(name string) []byte { made++; return NewCertificate(name) }}
	w := newWorld(makeCluster(1))
	plan := counting.Plan(w.c, w.view())
	for _, child := range plan.Children {
		w.take(child.Object())
	}
	first := w.made
	for range 3 {
		for _, child := range counting.Plan(w.c, w.view()).Children {
			w.take(child.Object())
		}
	}
	assert.Equal(t, 1, made)
	assert.Equal(t, first, w.made)
}

func TestAPassOverAnUnchangedClusterSaysNothing(t *testing.T) {
	w := newWorld(makeCluster(2))
	w.settle()
	w.ready(0, 1)
	w.settle()
	plan := w.pass()
	assert.Nil(t, plan.Status)
	assert.Empty(t, plan.Events)
	assert.Empty(t, plan.Delete)
	assert.Zero(t, plan.RequeueAfter)
	for _, e := range plan.Edits {
		assert.Equal(t, e.Before, e.After)
	}
}

func TestCountsMayWait(t *testing.T) {
	w := newWorld(makeCluster(3))
	w.settle()
	w.ready(1)
	assert.Equal(t, statusDelay, w.pass().StatusCanWait)
	w.ready(0)
	assert.Zero(t, w.pass().StatusCanWait, "it runs now")
}
