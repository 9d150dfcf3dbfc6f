package admission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// takesOver says why this manager takes the setup over from another one, empty if it doesn't. It does so only if it has jobs
// for the cohort.
func (c *cohort) takesOver(d *decision, now time.Time) string {
	setup := c.setups[c.self]
	record := setup.Status.Manager
	var request *v1alpha1.FluxSetupTakeover
	if record != nil {
		request = record.Takeover
	}
	switch {
	case c.mine && !c.isElsewhere() || !c.isNeeded(d):
		return ""
	case !slices.ContainsFunc(c.setups, isInUse) && len(d.Waiting[c.self]) > 0:
		return "which had no jobs in it"
	case !c.isElsewhere(): // but another setup of the cohort is
		return ""
	case !selectsSetup(record, setup):
		return "whose selector doesn't match the queue's labels"
	case request != nil && request.By == c.manager.String() && !request.Declined && !now.Before(c.deadline(request)):
		return fmt.Sprintf("which didn't answer within %s", c.manager.takeoverTimeout())
	default:
		return ""
	}
}

// isElsewhere reports whether the setup itself has another manager.
func (c *cohort) isElsewhere() bool {
	record := c.setups[c.self].Status.Manager
	return record != nil && !c.manager.Is(record)
}

// isNeeded reports whether jobs that this manager sees wait for the cohort.
func (c *cohort) isNeeded(d *decision) bool {
	return slices.ContainsFunc(d.Waiting, func(jobs []int) bool { return len(jobs) > 0 })
}

// deadline is until when a request can be declined, by the clock of the manager that requested.
func (c *cohort) deadline(request *v1alpha1.FluxSetupTakeover) time.Time {
	return request.Time.Add(c.manager.takeoverTimeout())
}

// refuse is the plan of a setup that another manager has. It keeps the reservations of the jobs that only this manager sees up
// to date. If it has jobs that wait, it requests the queue; one that isn't the other manager's yet it enters under that one's name with
// the request, which enqueues the rest of the cohort.
func (c *cohort) refuse(d *decision, now metav1.Time) builder.Plan[*v1alpha1.FluxSetup] {
	setup := c.setups[c.self]
	after := *setup
	setup.Status.DeepCopyInto(&after.Status)
	if held := c.reservations[c.self]; !sameReservations(held, after.Status.Reservations) {
		after.Status.Reservations, after.Status.AdmittedWorkloads = held, int32(len(held))
	}
	plan := builder.Plan[*v1alpha1.FluxSetup]{RequeueAfter: c.requeueAfter(d, now.Time)}
	if c.isNeeded(d) {
		if !c.isElsewhere() {
			after.Status.Manager = c.owner.DeepCopy()
			after.Status.Manager.Takeover = nil
		}
		record := after.Status.Manager
		left := c.timeToRequest(record.Takeover, now.Time)
		if left <= 0 {
			record.Takeover = &v1alpha1.FluxSetupTakeover{By: c.manager.String(), Time: now}
			left = c.manager.takeoverTimeout()
		}
		plan.RequeueAfter = lifecycle.Soonest(plan.RequeueAfter, left)
	}
	if !equality.Semantic.DeepEqual(&after.Status, &setup.Status) {
		plan.Status = &after
	}
	return plan
}

// timeToRequest is how long to wait before the queue is requested, or before the request that is there is granted. What was
// declined, or is another manager's, is requested again after twice the time to decline. A request from the future is of a clock that
// was ahead, and counts as none.
func (c *cohort) timeToRequest(request *v1alpha1.FluxSetupTakeover, now time.Time) time.Duration {
	switch {
	case request == nil || request.Time.After(now):
		return 0
	case request.By == c.manager.String() && !request.Declined:
		return max(c.deadline(request).Sub(now), lifecycle.Soon)
	default:
		return c.deadline(request).Add(c.manager.takeoverTimeout()).Sub(now)
	}
}

// record is what the setup's status is to say of its manager, which is this one. Requests of others are declined.
func (c *cohort) record() *v1alpha1.FluxSetupManager {
	record := c.manager.record()
	before := c.setups[c.self].Status.Manager
	if c.manager.Is(before) && before.Takeover != nil && before.Takeover.By != record.Name {
		record.Takeover = before.Takeover.DeepCopy()
		record.Takeover.Declined = true
	}
	return record
}

// tookOver returns the event of a setup whose manager changes.
func (c *cohort) tookOver(d *decision) []events.Event {
	before := c.setups[c.self].Status.Manager
	if before == nil || c.manager.Is(before) {
		return nil
	}
	why := ""
	if d.takeover != "" {
		why = ", " + d.takeover
	}
	return []events.Event{events.Normal(v1alpha1.ReasonTakenOver, fmt.Sprintf("manager %s, which watches %s, took the queue over from %s%s",
		c.manager.String(), Namespaces(c.manager.Namespaces), before.Name, why))}
}

// shownNamespaces is how many namespaces a message lists.
const shownNamespaces = 5

// Namespaces describes the namespaces that a manager watches.
func Namespaces(names []string) string {
	switch more := len(names) - shownNamespaces; {
	case len(names) == 0:
		return "all namespaces"
	case len(names) == 1:
		return "namespace " + names[0]
	case more > 0:
		return fmt.Sprintf("namespaces %s and %d more", strings.Join(names[:shownNamespaces], ", "), more)
	default:
		return "namespaces " + strings.Join(names, ", ")
	}
}
