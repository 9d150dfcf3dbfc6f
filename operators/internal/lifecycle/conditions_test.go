package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

func TestConclude(t *testing.T) {
	now := metav1.NewTime(start.Add(time.Minute))
	condition := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "m", ObservedGeneration: 1, LastTransitionTime: start}
	}
	succeeded := condition(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, "Done")
	failed := condition(v1alpha1.ConditionFailed, metav1.ConditionTrue, "Broken")
	contested := condition(events.ConditionReady, metav1.ConditionFalse, "Contested")
	for name, c := range map[string]struct {
		given          []metav1.Condition
		ready, stalled string
		at             metav1.Time
	}{
		"not ended":                 {given: []metav1.Condition{contested}, ready: "False Contested", at: start},
		"succeeded":                 {[]metav1.Condition{succeeded, condition(events.ConditionReady, metav1.ConditionTrue, "Done")}, "True Done", "", start},
		"succeeded, then contested": {[]metav1.Condition{succeeded, contested}, "True Done", "", now},
		"succeeded, Ready removed":  {[]metav1.Condition{succeeded}, "True Done", "", now},
		"failed, then contested":    {[]metav1.Condition{failed, contested}, "False Broken", "True Broken", start},
		"failed, Ready removed":     {[]metav1.Condition{failed}, "False Broken", "True Broken", now},
		"failed once, and retried": {
			[]metav1.Condition{condition(v1alpha1.ConditionFailed, metav1.ConditionFalse, "Retried"), contested}, "False Contested", "", start},
	} {
		t.Run(name, func(t *testing.T) {
			told := func(kind string) string {
				if found := meta.FindStatusCondition(c.given, kind); found != nil {
					return string(found.Status) + " " + found.Reason
				}
				return ""
			}
			ConditionsOf(&c.given, 2, now).Conclude()
			assert.Equal(t, c.ready, told(events.ConditionReady))
			assert.Equal(t, c.stalled, told(events.ConditionStalled))
			ready := meta.FindStatusCondition(c.given, events.ConditionReady)
			assert.Equal(t, c.at, ready.LastTransitionTime)
			assert.Equal(t, "m", ready.Message)
		})
	}
}
