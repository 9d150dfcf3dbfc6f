package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
)

// Health is what others say of a child, beyond what it says of itself. The zero value says that all is well.
type Health struct {
	// Unwell is true if the child isn't ready, whatever it says of itself.
	Unwell bool
	// Failed is true if it won't become ready before someone changes something. It halts a roll-out.
	Failed bool
	// Why says so in a few words.
	Why string
}

// HealthFrom says by a function what others say of the child, in addition to what the rules of [Builder.AwaitReady], or
// [ReadyWhen], make of it: of the two, the worse counts. It is for workloads that never say that they have failed, such
// as a StatefulSet whose pods crash: the function looks at the pods, in the view. It is given the child as read from the
// cluster, of the Go type that was wanted, and must not change it. It is only asked about a child that is applied as
// wanted and isn't being deleted, if its readiness is looked at. A function that is nil is the default.
func HealthFrom(look func(child client.Object) Health) ChildOption { return healthFrom(look) }

type healthFrom func(client.Object) Health

func (f healthFrom) applyToChild(c *Child) { c.health = f }

// examined returns how far a child is, if others are heard as well.
func (c Child) examined(own readiness.Status, obj client.Object) readiness.Status {
	if c.health == nil || obj.GetDeletionTimestamp() != nil {
		return own
	}
	h := c.health(obj)
	others := readiness.Status{State: readiness.Ready, Why: shorten(h.Why, maxWhy)}
	switch {
	case h.Failed:
		others.State = readiness.Failed
	case h.Unwell:
		others.State = readiness.InProgress
	}
	if others.State == readiness.Ready || own.State > others.State {
		return own
	}
	return others
}
