package buildertest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/events"
)

// RecordedEvent is an event that an operator has emitted.
type RecordedEvent struct {
	Kind      string // of the object that the event is about
	Namespace string
	Name      string
	Type      string // Normal or Warning
	Reason    string
	Note      string
	Related   string // kind and name of the related object, such as "Job demo"; empty for none
}

// Recorder returns a recorder that keeps events in the client's record. It writes no Event objects. [NewReconciler] uses it.
func (c *Client) Recorder() events.Recorder { return recorder{c} }

// Events returns the events that were emitted with the client's recorder, oldest first.
func (c *Client) Events() []RecordedEvent {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return slices.Clone(c.events)
}

// ResetEvents removes all events from the client's record.
func (c *Client) ResetEvents() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.events = nil
}

type recorder struct{ client *Client }

// Eventf implements events.Recorder. A crashed process emits nothing.
func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, _, note string, args ...any) {
	e := RecordedEvent{Type: kind, Reason: reason, Note: fmt.Sprintf(note, args...)}
	if obj, ok := regarding.(client.Object); ok {
		e.Kind, e.Namespace, e.Name = r.kindOf(obj), obj.GetNamespace(), obj.GetName()
	}
	if obj, ok := related.(client.Object); ok {
		e.Related = r.kindOf(obj) + " " + obj.GetName()
	}
	s := r.client.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if !r.client.crash.dead {
		r.client.events = append(r.client.events, e)
	}
}

func (r recorder) kindOf(obj client.Object) string {
	gvk, err := apiutil.GVKForObject(obj, r.client.server.scheme)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.Kind
}
