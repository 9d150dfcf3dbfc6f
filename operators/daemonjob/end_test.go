package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
)

// The builder overwrites Ready while a child is contested or can't be written, and removes what it wrote afterwards.
func TestAnEndedJobSaysAgainHowItEnded(t *testing.T) {
	w := worldOf(1, makeJob())
	w.pass()
	w.complete("n1")
	w.pass()
	assert.Equal(t, metav1.ConditionTrue, w.ready().Status)

	w.job = w.job.DeepCopy()
	meta.SetStatusCondition(&w.job.Status.Conditions, metav1.Condition{Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: "Contested"})
	w.pass()
	assert.Equal(t, metav1.ConditionTrue, w.ready().Status)
	assert.Equal(t, "Succeeded", w.ready().Reason)

	w.job = w.job.DeepCopy()
	meta.RemoveStatusCondition(&w.job.Status.Conditions, events.ConditionReady)
	w.pass()
	assert.Equal(t, metav1.ConditionTrue, w.ready().Status)
	assert.Zero(t, w.pass(), "nothing new")
}
