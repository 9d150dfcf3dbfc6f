package effects

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/effect"
)

// Effect is a thing outside of the cluster in its desired state.
type Effect struct {
	// Performer is the name of the performer. Required.
	Performer string
	// Key identifies the thing among the owner's effects of the performer, such as "database/orders". Required.
	Key string
	// Payload is the desired state. It must have a JSON form, of at most 128 KiB, and no secret: the journal has it in clear. A payload of
	// another JSON form is performed again. Default: nil, none.
	Payload any
	// Secrets are Secrets that the plan has read from its view. The performer receives their data; the journal has their names and
	// versions. Another version of a Secret is performed again. Default: none.
	Secrets []*corev1.Secret
	// Order orders the owner's effects: those of lower orders are done first, and undone last. Default: 0.
	Order int64
	// Retain keeps what is outside when the effect is no longer desired or the owner is deleted. Default: false, which undoes it.
	Retain bool
}

// Want returns an effect as a child of a plan. Of the options of children, only builder.InPhase is allowed.
func Want(owner client.Object, e Effect, options ...builder.ChildOption) builder.Child {
	d := &effect.Desired{Performer: e.Performer, Key: e.Key, Secrets: e.Secrets, Order: e.Order}
	journal := effect.Render(owner, d, e.Payload, e.Retain)
	return builder.Want(journal, append(options, effect.Option(d).(builder.ChildOption))...)
}

// Performer carries effects out. The builder calls it in the operator's worker. A call must end with its context, and be idempotent.
type Performer interface {
	// Do brings the thing outside to the state of the payload, whatever its state is, and returns a result, nil for none. The result must
	// have a JSON form of at most 16 KiB, and no secret. The next view has it.
	Do(ctx context.Context, call Call) (result any, err error)
	// Undo removes the thing outside. It succeeds if there is none, because Do may never have been called, or Undo twice.
	Undo(ctx context.Context, call Call) error
}

// Observer is a Performer that can observe whether the thing outside has the desired state.
type Observer interface {
	Performer
	// Observe reports whether the thing outside has the state of the payload. If it hasn't, the builder calls Do again. The builder asks
	// every Options.Every, and once after each start of the process. An error makes the owner not ready, and changes nothing else.
	Observe(ctx context.Context, call Call) (upToDate bool, err error)
}

// Call is the argument of a performer.
type Call struct {
	// Owner is the namespace and name of the owner.
	Owner types.NamespacedName
	// Key is the effect's key.
	Key string
	// ID is equal in all attempts for one desired state of an effect, and in no other call. Use it as the idempotency key of a system that
	// takes one.
	ID string
	// Payload is the effect's payload as JSON. Undo receives the last one.
	Payload json.RawMessage
	// Secrets have the data of the effect's Secrets by name. Undo receives none.
	Secrets map[string]map[string][]byte
	// Attempt is the number of the attempt since the last success, from 1; 0 in Observe.
	Attempt int
}

// Decode decodes the payload.
func (c Call) Decode(into any) error { return json.Unmarshal(c.Payload, into) }

// Options configure a performer.
type Options struct {
	// Every is the time between two observations of an effect. Default: 10 minutes.
	Every time.Duration
	// Timeout limits one call. Default: 30 seconds.
	Timeout time.Duration
}

// PerformedBy declares a performer, as an option of Owns(&appsv1.ControllerRevision{}). Its name is in the journals, so it must not
// change. An operator may have several performers.
func PerformedBy(name string, performer Performer, o Options) builder.OwnsOption {
	p := effect.Performer{Name: name, Every: cmp.Or(o.Every, 10*time.Minute), Timeout: cmp.Or(o.Timeout, 30*time.Second)}
	if performer != nil {
		p.Do = func(ctx context.Context, c effect.Call) (any, error) { return performer.Do(ctx, Call(c)) }
		p.Undo = func(ctx context.Context, c effect.Call) error { return performer.Undo(ctx, Call(c)) }
	}
	if observer, ok := performer.(Observer); ok {
		p.Observe = func(ctx context.Context, c effect.Call) (bool, error) { return observer.Observe(ctx, Call(c)) }
	}
	return effect.OwnsOption(p).(builder.OwnsOption)
}

// Status is the state of an effect, as its journal has it.
type Status struct {
	// Done reports whether Payload was performed.
	Done bool
	// Undoing reports whether the effect is being undone.
	Undoing bool
	// Payload is the last desired state that was recorded. That of this pass's plan may be a later one.
	Payload json.RawMessage
	// Result is what the last successful call of Do returned, also while a later payload is pending. Empty: nothing.
	Result json.RawMessage
	// Attempts, Error and RetryAt describe the failed attempts for Payload: their number, the error of the last one, empty for none, and when
	// the next one begins.
	Attempts int
	Error    string
	RetryAt  time.Time
}

// Find returns the state of an effect, and whether it has a journal.
func Find(observed builder.View, performer, key string) (Status, bool) {
	for _, obj := range builder.Owned[*appsv1.ControllerRevision](observed) {
		if !effect.Is(obj) {
			continue
		}
		if j := effect.Read(obj); j.Performer == performer && j.Key == key {
			return statusOf(j), true
		}
	}
	return Status{}, false
}

// statusOf returns the state in a journal.
func statusOf(j *effect.Journal) Status {
	s := Status{
		Done: j.IsDone(), Undoing: j.IsUndone(), Payload: j.Spec.Payload, Result: j.State.Result,
		Attempts: j.State.Attempts, Error: j.Failed(),
	}
	if j.State.RetryAt != nil {
		s.RetryAt = j.State.RetryAt.Time
	}
	return s
}
