package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
)

// The builder overwrites Ready while a child is contested or can't be written, and removes what it wrote afterwards.
func TestAnEndedJobSaysAgainHowItEnded(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1)))
	c.settle()
	c.run()
	c.ends(0, "demo-worker-0")
	c.settle()
	assert.Equal(t, "Succeeded", c.is("Ready"))

	c.job = c.job.DeepCopy()
	meta.SetStatusCondition(&c.job.Status.Conditions, metav1.Condition{Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: "Contested"})
	c.pass()
	assert.Equal(t, "Succeeded", c.is("Ready"))

	c.job = c.job.DeepCopy()
	meta.RemoveStatusCondition(&c.job.Status.Conditions, events.ConditionReady)
	c.pass()
	assert.Equal(t, "Succeeded", c.is("Ready"))
	c.pass()
	assert.Nil(t, c.plan.Status, "nothing new")
}
