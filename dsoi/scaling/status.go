package scaling

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/events"
)

// Reasons of events, conditions and entries.
const (
	// ReasonReady: all entries are in force.
	ReasonReady = events.ReasonReady
	// ReasonScaled: a node is scaled.
	ReasonScaled = "Scaled"
	// ReasonInvalidSpec: an entry has a mistake.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonSourceFailed: the number couldn't be had; the node keeps what was decided on last.
	ReasonSourceFailed = "SourceFailed"
	// ReasonSourceRecovered: the number can be had again.
	ReasonSourceRecovered = "SourceRecovered"
	// ReasonTargetNotFound: the cluster has nothing of that name that can be scaled.
	ReasonTargetNotFound = "TargetNotFound"
	// ReasonConflict: another object scales the node.
	ReasonConflict = "Conflict"
	// ReasonCannotGrow: the storage class doesn't let volumes grow.
	ReasonCannotGrow = "CannotGrow"
	// ReasonAtMax: volumes have grown as far as they may, and are still too small.
	ReasonAtMax = "AtMax"
)

// setConditions says whether all entries are in force.
func (p *planner) setConditions(status *v1beta1.ScalingStatus, wrong error) {
	reason, stalled := ReasonReady, false
	var texts []string
	if wrong != nil {
		reason, stalled, texts = ReasonInvalidSpec, true, []string{wrong.Error()}
	}
	for _, n := range status.Nodes {
		if n.Reason == "" {
			continue
		}
		if reason == ReasonReady {
			reason = n.Reason
		}
		stalled = stalled || n.Reason == ReasonInvalidSpec
		texts = append(texts, n.Name+": "+n.Message)
	}
	message := fmt.Sprintf("%d entries are in force", len(status.Nodes))
	if len(texts) > 0 {
		message = few(texts)
	}
	for _, c := range []struct {
		kind string
		is   bool
	}{{events.ConditionReady, len(texts) == 0}, {events.ConditionStalled, stalled}} {
		says := metav1.Condition{
			Type: c.kind, Status: metav1.ConditionFalse, Reason: reason, Message: message,
			ObservedGeneration: p.scaling.GetGeneration(), LastTransitionTime: p.now,
		}
		if c.is {
			says.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&status.Conditions, says)
	}
}

// tellTrouble tells that an entry is no longer in force, or is again.
func (p *planner) tellTrouble(is, was v1beta1.NodeScalingStatus) {
	switch {
	case is.Reason != "":
		p.told = append(p.told, events.Warning(is.Reason, "node "+is.Name+": "+is.Message))
	case was.Reason == ReasonSourceFailed:
		p.told = append(p.told, events.Normal(ReasonSourceRecovered, "node "+is.Name+": the number is "+is.Value))
	}
}

// few puts the first of some texts into one.
func few(texts []string) string {
	const shown = 5
	more := len(texts) - shown
	text := strings.Join(texts[:min(shown, len(texts))], "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func sameStatus(a, b *v1beta1.ScalingStatus) bool { return equality.Semantic.DeepEqual(a, b) }
