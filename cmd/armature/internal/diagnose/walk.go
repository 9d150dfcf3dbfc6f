package diagnose

import (
	"slices"
	"strings"
)

// scene is where a rule looks: an object on the way from the one that was asked for down to the pods.
type scene struct {
	*Facts
	*Object
	parent *Object // nil for the object that was asked for
}

// rule looks for one thing that can be wrong with an object. It returns nil if it is not that.
type rule func(scene) *Finding

// before are asked before what an object owns is looked at, after if nothing below explains how it fares. Their order is that in
// which things go wrong: what isn't looked at at all can't be suspended, what is suspended lacks no quota.
func before() []rule {
	return []rule{
		deleting, paused, waitsForTurn, managedElsewhere, unobserved, suspended, queuedByKueue, invalidSpec, stopped,
		unrecorded, leaderless,
		notOwned, refused, contested, unmade, templateMissing, unqueued, daemonNodes, scaledToZero, gangWaits, claimPending,
		schedulingGated, unscheduled, unscheduledYet, nodeLost, evicted,
		absentConfig, imageUnavailable, containerConfig, outOfMemory, crashed, unready, volumeStuck,
	}
}

func after() []rule { return []rule{podsRefused, jobFailed, rolloutFailed, stalled, waits, hasFailed} }

// Diagnose says what is wrong first, or that nothing is.
func Diagnose(f Facts) Finding {
	found := f.look(f.Root, nil, nil)
	if found == nil {
		found = well(scene{Facts: &f, Object: f.Root})
	}
	found.Path = append([]Step{}, found.Path...)
	slices.Reverse(found.Path)
	return *found
}

// Unattended says that no manager looks at the object, if that is so. It asks nothing else, and needs of the facts only when it is,
// the object and what it owns, and the managers.
func Unattended(f Facts) *Finding {
	s := scene{Facts: &f, Object: f.Root}
	return s.ask([]rule{managedElsewhere, unobserved, unrecorded, leaderless})
}

// look returns what is wrong with an object or below it, nil if nothing is. Paths are from the bottom up.
func (f *Facts) look(o, parent *Object, siblings []*Object) *Finding {
	if HasSucceeded(o) && o.GetDeletionTimestamp() == nil || isSuperseded(o, siblings) || isAllowed(o, parent) {
		return nil
	}
	s := scene{Facts: f, Object: o, parent: parent}
	if found := s.ask(before()); found != nil {
		return found
	}
	if found := f.worst(o); found != nil {
		found.Path = append(found.Path, Step{o.Ref(), StateOf(o)})
		found.Message += skipped(o, found)
		return found
	}
	return s.ask(after())
}

// ask asks rules one after the other.
func (s scene) ask(rules []rule) *Finding {
	for _, r := range rules {
		if found := r(s); found != nil {
			if found.Object == (Ref{}) {
				found.Object = s.Ref()
			}
			if found.Object != s.Ref() {
				found.Path = append(found.Path, Step{found.Object, ""})
			}
			found.Path = append(found.Path, Step{s.Ref(), StateOf(s.Object)})
			found.Message = strings.Join(strings.Fields(found.Message), " ") // others' words may be of several lines
			return found
		}
	}
	return nil
}

// worst returns what is wrong below an object: of several, what has failed, and that of the oldest.
func (f *Facts) worst(o *Object) *Finding {
	var worst *Finding
	others := 0
	for _, child := range o.Owned {
		found := f.look(child, o, o.Owned)
		if found == nil {
			continue
		}
		switch {
		case worst == nil:
			worst = found
		case found.Verdict == Failed && worst.Verdict != Failed:
			others += 1 + worst.Others
			worst = found
		default:
			others += 1 + found.Others
		}
	}
	if worst != nil {
		worst.Others += others
		worst.Verdict = seenFromAbove(o, worst.Verdict)
	}
	return worst
}

// seenFromAbove: what has failed below an object that goes on is not its end.
func seenFromAbove(o *Object, v Verdict) Verdict {
	if v == Failed && !HasEndedBadly(o) {
		return Blocked
	}
	return v
}

// skipped says what a failure has kept from running: the nodes of a flow that came after it.
func skipped(o *Object, found *Finding) string {
	n := int(o.number("status", "counts", "skipped"))
	if !o.is("JobFlow") || n == 0 || !found.Wrong() {
		return ""
	}
	return "; " + count(n, "node") + " of the flow " + map[bool]string{true: "was", false: "were"}[n == 1] + " skipped"
}
