package watchcmd

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
	"github.com/armature-dev/armature/events"
)

// picture is an object as it is shown at one moment, whatever its kind.
type picture struct {
	kind, name string
	state      string
	elapsed    time.Duration
	problem    string    // what stands in its way, empty if nothing does
	heads      [2]string // of the columns name and after
	rows       []row
	tally      tally
	over       bool // nothing more will happen
	failed     bool // that is not its good end
}

// inLines returns the picture with texts that are a line each, whatever the object says.
func (p picture) inLines() picture {
	p.state, p.problem = output.Line(p.state), output.Line(p.problem)
	p.rows = slices.Clone(p.rows)
	for i := range p.rows {
		r := &p.rows[i]
		r.name, r.after, r.message = output.Line(r.name), output.Line(r.after), output.Line(r.message)
		r.state = v1alpha1.FlowState(output.Line(string(r.state)))
	}
	return p
}

// row is one part of an object: a node of a flow, a node of the cluster that failed, the replicas of a type, a step of a job.
type row struct {
	name    string
	after   string // what it depends on
	state   v1alpha1.FlowState
	start   time.Duration // after the object's start
	took    time.Duration // so far, if it hasn't ended
	started bool
	message string
	counts  bool   // the message has a count: each change prints a line
	attempt int32  // how often it was tried before
	pods    string // the label selector of its pods
}

// tally counts parts by state: succeeded, skipped, failed and running.
type tally struct{ done, skipped, bad, runs, total int }

// String is how many of all have succeeded. What has failed or was skipped is no progress.
func (t tally) String() string {
	text := fmt.Sprintf("%d/%d", t.done, t.total)
	if t.bad > 0 {
		text += fmt.Sprintf(", %d failed", t.bad)
	}
	if t.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.skipped)
	}
	return text
}

// percent is how much of what isn't skipped has succeeded.
func (t tally) percent() int {
	if todo := t.total - t.skipped; todo > 0 {
		return min(t.done, todo) * 100 / todo
	}
	return map[bool]int{true: 100}[t.total > 0]
}

// count counts rows.
func count(all []row) tally {
	t := tally{total: len(all)}
	for i := range all {
		switch all[i].state {
		case v1alpha1.FlowSucceed:
			t.done++
		case v1alpha1.FlowSkipped:
			t.skipped++
		case v1alpha1.FlowFailed:
			t.bad++
		case v1alpha1.FlowRunning:
			t.runs++
		}
	}
	return t
}

// runs sets when a row began, and how long it has been going on or went on, on the clock of an object that began at zero.
func (r *row) runs(zero time.Time, from, to *metav1.Time, now time.Time) {
	if from == nil {
		return
	}
	r.started = true
	r.start = max(0, from.Sub(zero))
	r.took = max(0, end(to, now).Sub(from.Time))
}

// since is how long something has been going on, or went on.
func since(from, to *metav1.Time, now time.Time) time.Duration {
	if from == nil {
		return 0
	}
	return max(0, end(to, now).Sub(from.Time))
}

func end(t *metav1.Time, now time.Time) time.Time {
	if t == nil {
		return now
	}
	return t.Time
}

// underWay are the reasons of Ready of what isn't ready only because it has yet to come to its end.
var underWay = map[string]bool{
	v1alpha1.ReasonPending: true, v1alpha1.ReasonStarted: true, v1alpha1.ReasonRunning: true, v1alpha1.ReasonTerminating: true,
	v1alpha1.ReasonCreated: true, v1alpha1.ReasonNotRunning: true, v1alpha1.ReasonRequested: true, v1alpha1.ReasonAdmitted: true,
	v1alpha1.ReasonStarting: true, v1alpha1.ReasonPodsReady: true, v1alpha1.ReasonRestarted: true,
}

// problem is what stands in an object's way, empty if nothing does: an undo, a pause, the turn in a roll-out for which it waits, or what
// Ready says.
func problem(conditions []metav1.Condition) string {
	switch c := meta.FindStatusCondition(conditions, events.ConditionUndone); {
	case c == nil:
	case c.Status == metav1.ConditionTrue:
		return c.Reason + ": the last disruptive change is undone, and the object is paused"
	default:
		return c.Reason + ": " + c.Message
	}
	for i := range conditions {
		c := &conditions[i]
		if c.Type == events.ConditionPaused && c.Status == metav1.ConditionTrue ||
			c.Type == events.ConditionReleased && c.Status == metav1.ConditionFalse {
			return c.Reason + ": " + c.Message
		}
	}
	ready := meta.FindStatusCondition(conditions, events.ConditionReady)
	if ready == nil || ready.Status == metav1.ConditionTrue || underWay[ready.Reason] {
		return ""
	}
	return ready.Reason + ": " + ready.Message
}

// isInvalid reports whether nothing will happen before someone changes the spec.
func isInvalid(conditions []metav1.Condition) bool {
	stalled := meta.FindStatusCondition(conditions, events.ConditionStalled)
	return stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == v1alpha1.ReasonInvalidSpec
}

// endIfInvalid ends the picture of a flow or a DaemonJob with an invalid spec and no active Jobs. Those that there are go on, and are shown
// to their end.
func (p *picture) endIfInvalid(conditions []metav1.Condition, active int32) {
	if !p.over && active == 0 && isInvalid(conditions) {
		p.over, p.failed = true, true
	}
}

// short renders a duration in whole seconds: API times have no more.
func short(d time.Duration) string { return d.Truncate(time.Second).String() }
