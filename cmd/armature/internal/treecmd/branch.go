package treecmd

import (
	"time"

	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
)

// branch is an object as it is shown, and what is below it.
type branch struct {
	diagnose.Ref `json:",inline"`
	// State is the state in the object's own status, in a few words.
	State string `json:"state,omitempty"`
	// Node is the one that a pod is on.
	Node string `json:"node,omitempty"`
	// Created is when it was made.
	Created time.Time `json:"created"`
	// Owned is what it owns, the oldest first.
	Owned []branch `json:"owned,omitempty"`

	health health
}

// health is the state of an object, for its colour and for counts.
type health int

const (
	quiet health = iota // of what has no state, such as a ConfigMap
	waits
	runs
	done
	bad
)

func newBranch(m *family.Member) branch {
	o := diagnose.NewObject(m.Unstructured, nil)
	b := branch{Ref: o.Ref(), State: diagnose.StateOf(o), Created: m.GetCreationTimestamp().Time, health: healthOf(o)}
	if o.Ref().Kind == "Pod" {
		b.Node = diagnose.NodeOf(o)
	}
	for _, child := range m.Owned {
		b.Owned = append(b.Owned, newBranch(child))
	}
	return b
}

func healthOf(o *diagnose.Object) health {
	switch state := diagnose.StateOf(o); {
	case diagnose.HasFailed(o):
		return bad
	case diagnose.HasSucceeded(o):
		return done
	case state == "":
		return quiet
	case diagnose.IsUp(o):
		return runs
	default:
		return waits
	}
}
