package plancheck

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/events"
)

// Reported is what a plan reports, and whether its owner has ended, under the names of the fields of builder.Plan.
type Reported struct {
	Status      client.Object
	WaitingFor  []string
	Events      []events.Event
	DeleteOwner bool
}

// CheckSame returns an error if another call of the plan, with the same arguments, reported something else.
func (r Reported) CheckSame(again Reported) error {
	if field := r.Difference(again); field != "" {
		return fmt.Errorf("%w: the plan isn't pure: called again with the same arguments, it has another %s; let it depend on nothing but the "+
			"owner and the view: no clock, no random number, no order of a map, no memory", failure.ErrMisuse, field)
	}
	return nil
}

// Difference returns the first field in which two calls of a plan differ; empty for none.
func (r Reported) Difference(again Reported) string {
	switch {
	case kinds.IsNil(r.Status) != kinds.IsNil(again.Status):
		return "Plan.Status"
	case len(r.Events)+len(again.Events) > 0 && !reflect.DeepEqual(r.Events, again.Events):
		return "Plan.Events"
	case len(r.WaitingFor)+len(again.WaitingFor) > 0 && !reflect.DeepEqual(r.WaitingFor, again.WaitingFor):
		return "Plan.WaitingFor"
	case r.DeleteOwner != again.DeleteOwner:
		return "Plan.DeleteOwner"
	case kinds.IsNil(r.Status) || reflect.DeepEqual(r.Status, again.Status):
		return ""
	}
	if path := firstDifference(r.Status, again.Status); path != "" {
		return "Plan.Status: " + path
	}
	return ""
}
