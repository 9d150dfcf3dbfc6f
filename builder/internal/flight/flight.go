package flight

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/phases"
	"github.com/armature-dev/armature/builder/internal/view"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// Recorder gets the passes that wrote or failed. It must change no object of them, because the cache shares them. It is safe for
// concurrent use.
type Recorder interface {
	RecordPass(p Pass)
}

// Source is a manager or a client whose operators' passes are recorded.
type Source interface{ FlightRecorder() Recorder }

// Pass is one pass over one owner.
type Pass struct {
	Operator string
	Scheme   *runtime.Scheme
	Owner    client.Object
	Now      time.Time     // the time of the view
	Observed view.Observed // the rest of the view
	Plan     *Plan         // nil if the pass failed before it; the zero value if it is invalid
	PlanErr  error         // why the plan is invalid
	Result   any           // the builder.Result
	Err      error         // of the whole pass
	Requests []Request
}

// Plan is a builder.Plan of any type.
type Plan struct {
	Children      []Child
	Prune         []client.Object
	PruneAll      bool
	Edits         []Edit
	Delete        []client.Object
	Rollout       rollout.Options
	Status        client.Object // nil: none
	StatusCanWait time.Duration
	Report        bool
	WaitingFor    []string
	HasFinish     bool
	Events        []events.Event
	DeleteOwner   bool
	RequeueAfter  time.Duration
}

// Child is a builder.Child.
type Child struct {
	apply.Child
	Run *phases.JobRun // nil: none
}

// Edit is a builder.Edit.
type Edit struct {
	Before, After client.Object
	Replicas      *int32
	Foreign       bool
}

var (
	// PlanOf returns the parts of a *builder.Plan of any type. Package builder sets it.
	PlanOf func(plan any) Plan
	// Kinds returns the empty objects by which a *builder.Operator declares the kinds that its plan reads. Package builder sets it.
	Kinds func(operator any) []client.Object
)
