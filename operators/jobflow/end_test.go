package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// The builder overwrites Ready while a child is contested or can't be written, and removes what it wrote afterwards.
func TestAnEndedFlowSaysAgainHowItEnded(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.step()
	s.step(completeJob("a"))
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Ready").Status)

	s.edit(func(f *v1alpha1.JobFlow) {
		meta.SetStatusCondition(&f.Status.Conditions, metav1.Condition{Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: "Contested"})
	})
	s.step()
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Ready").Status)
	assert.Equal(t, "Succeeded", condition(s.flow, "Ready").Reason)

	s.edit(func(f *v1alpha1.JobFlow) { meta.RemoveStatusCondition(&f.Status.Conditions, events.ConditionReady) })
	s.step()
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Ready").Status)
	assert.Nil(t, s.step().Status, "nothing new to say")
}
