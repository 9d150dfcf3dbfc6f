package diagnose

import (
	"slices"
	"strings"

	"github.com/armature-dev/armature/events"
)

// subject is the object that a rule checks, with its parent and the facts.
type subject struct {
	*Facts
	*Object
	parent *Object // nil for the requested object
}

// rule checks an object for one problem. It returns nil if the object doesn't have it.
type rule func(subject) *Finding

// before are the rules that run before the children of an object are checked; after are those that run if no child has a finding.
// They are ordered by precedence: an object that no manager reconciles can't be suspended, and a suspended one needs no quota.
func before() []rule {
	return []rule{
		deleting, paused, waitsForTurn, managedElsewhere, quarantined, unobserved, suspended, queuedByKueue, invalidSpec, stopped,
		unrecorded, leaderless,
		notOwned, refused, contested, unmade, templateMissing, unqueued, daemonNodes, scaledToZero, gangWaits, claimPending,
		schedulingGated, unscheduled, unscheduledYet, nodeLost, evicted,
		absentConfig, imageUnavailable, containerConfig, outOfMemory, crashed, unready, volumeStuck,
	}
}

func after() []rule {
	return []rule{podsRefused, jobFailed, rolloutFailed, actionRequired, stalled, waits, reportsFailure}
}

// Diagnose returns the first problem, or the result that there is none.
func Diagnose(f Facts) Finding {
	found := f.find(f.Root, nil, nil)
	if found == nil {
		found = well(subject{Facts: &f, Object: f.Root})
	}
	found.Path = append([]Step{}, found.Path...)
	slices.Reverse(found.Path)
	return *found
}

// Unattended returns the finding that no manager works on the object, or that its manager postpones it, or nil. It evaluates no other
// rules, and of the facts it needs only the time, the object with its children, and the managers.
func Unattended(f Facts) *Finding {
	s := subject{Facts: &f, Object: f.Root}
	return s.evaluate([]rule{managedElsewhere, quarantined, unobserved, unrecorded, leaderless})
}

// find returns the problem of an object or of one below it, nil if there is none. Paths are from the bottom up.
func (f *Facts) find(o, parent *Object, siblings []*Object) *Finding {
	if HasSucceeded(o) && o.GetDeletionTimestamp() == nil || IsSuperseded(o, siblings) || isAllowed(o, parent) {
		return nil
	}
	s := subject{Facts: f, Object: o, parent: parent}
	if found := s.evaluate(before()); found != nil {
		return found
	}
	found := f.worst(o)
	if found != nil && !found.Wrong() {
		if own := s.evaluate(after()); own != nil && own.Reason != events.ReasonWaiting {
			return own // a child that waits hides no problem of its parent, and says what the parent waits for
		}
	}
	if found != nil {
		found.Path = append(found.Path, Step{o.Ref(), StateOf(o)})
		found.Message += skipped(o, found)
		return found
	}
	return s.evaluate(after())
}

// evaluate returns the finding of the first rule that has one.
func (s subject) evaluate(rules []rule) *Finding {
	for _, r := range rules {
		if found := r(s); found != nil {
			if found.Object == (Ref{}) {
				found.Object = s.Ref()
			}
			if found.Object != s.Ref() {
				found.Path = append(found.Path, Step{found.Object, ""})
			}
			found.Path = append(found.Path, Step{s.Ref(), StateOf(s.Object)})
			found.Message = strings.Join(strings.Fields(found.Message), " ") // messages of other programs can have several lines
			return found
		}
	}
	return nil
}

// worst returns the finding about a child: a failure before other problems, those before a wait, and the oldest child first.
func (f *Facts) worst(o *Object) *Finding {
	var worst *Finding
	others := 0
	for _, child := range o.Owned {
		found := f.find(child, o, o.Owned)
		if found == nil {
			continue
		}
		switch {
		case worst == nil:
			worst = found
		case found.severity() > worst.severity():
			others += worst.problems()
			worst = found
		default:
			others += found.problems()
		}
	}
	if worst != nil {
		worst.Others += others
		worst.Phase = seenFromAbove(o, worst.Phase)
	}
	return worst
}

// seenFromAbove returns Blocked for the parent of a failed child, unless the parent has failed as well.
func seenFromAbove(o *Object, p Phase) Phase {
	if p == Failed && !HasFailed(o) {
		return Blocked
	}
	return p
}

// skipped counts the nodes of a flow that a failure caused to be skipped.
func skipped(o *Object, found *Finding) string {
	n := int(o.number("status", "counts", "skipped"))
	if !o.is("JobFlow") || n == 0 || !found.Wrong() {
		return ""
	}
	return "; " + count(n, "node") + " of the flow " + map[bool]string{true: "was", false: "were"}[n == 1] + " skipped"
}
