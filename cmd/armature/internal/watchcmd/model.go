package watchcmd

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
)

// row is one flow of a JobFlow as it is shown.
type row struct {
	name    string
	after   string // what it depends on
	state   v1alpha1.FlowState
	start   time.Duration // after the JobFlow's start
	took    time.Duration // so far, if it hasn't ended
	started bool
	message string
}

// rows lists the flows in the order of the spec, those in finally last.
func rows(flow *v1alpha1.JobFlow, now time.Time) []row {
	all := make([]row, 0, len(flow.Spec.Flows)+len(flow.Spec.Finally))
	for _, f := range flow.Spec.Flows {
		all = append(all, row{name: f.Name, after: strings.Join(f.Dependencies, ",")})
	}
	for _, f := range flow.Spec.Finally {
		all = append(all, row{name: f.Name, after: "(finally)"})
	}
	for i, s := range flowstate.Of(flow) {
		r := &all[i]
		r.state, r.message = s.State, s.Message
		if s.StartTime != nil && flow.Status.StartTime != nil {
			r.started = true
			r.start = max(0, s.StartTime.Sub(flow.Status.StartTime.Time))
			r.took = max(0, end(s.CompletionTime, now).Sub(s.StartTime.Time))
		}
	}
	return all
}

// elapsed is how long the flow has been running, or ran.
func elapsed(flow *v1alpha1.JobFlow, now time.Time) time.Duration {
	if flow.Status.StartTime == nil {
		return 0
	}
	return max(0, end(flow.Status.CompletionTime, now).Sub(flow.Status.StartTime.Time))
}

func end(t *metav1.Time, now time.Time) time.Time {
	if t == nil {
		return now
	}
	return t.Time
}

// progress counts the flows that need nothing more.
func progress(all []row) string {
	done := 0
	for _, r := range all {
		switch r.state {
		case v1alpha1.FlowSucceed, v1alpha1.FlowFailed, v1alpha1.FlowSkipped:
			done++
		}
	}
	return fmt.Sprintf("%d/%d", done, len(all))
}

// state is the flow's state, Pending before the operator has seen it.
func state(flow *v1alpha1.JobFlow) v1alpha1.State {
	if flow.Status.State == "" {
		return v1alpha1.StatePending
	}
	return flow.Status.State
}

// ended reports whether nothing more will happen, and as an error that it didn't end well.
func ended(flow *v1alpha1.JobFlow) (bool, error) {
	switch {
	case flow.Status.ObservedGeneration != flow.Generation:
		return false, nil
	case flow.Status.State == v1alpha1.StateSucceed:
		return true, nil
	case flow.Status.State == v1alpha1.StateFailed && flow.Spec.Retry > flow.Status.Retry && !flow.Spec.Terminate:
		return false, nil // it is about to be retried
	case flow.Status.State == v1alpha1.StateFailed:
		return true, ErrFailed
	default:
		return false, nil
	}
}

// problem is what stands in the flow's way, empty if nothing does.
func problem(flow *v1alpha1.JobFlow) string {
	ready := meta.FindStatusCondition(flow.Status.Conditions, "Ready")
	if ready == nil || ready.Status == metav1.ConditionTrue {
		return ""
	}
	switch ready.Reason {
	case v1alpha1.ReasonPending, v1alpha1.ReasonStarted, v1alpha1.ReasonRunning, v1alpha1.ReasonTerminating:
		return ""
	}
	return ready.Reason + ": " + ready.Message
}

// short renders a duration in whole seconds: API times have no more.
func short(d time.Duration) string { return d.Truncate(time.Second).String() }
