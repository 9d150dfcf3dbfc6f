package effect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Desired is an effect as a plan gives it.
type Desired struct {
	Performer, Key string
	Secrets        []*corev1.Secret
	Order          int64
	Err            error // what is wrong with it; nil: nothing
}

// Option returns the builder.ChildOption that marks a child as the journal of an effect. Package builder sets it.
var Option func(*Desired) any

// OwnsOption returns the builder.OwnsOption that declares a performer. Package builder sets it.
var OwnsOption func(Performer) any

// Performer carries effects out.
type Performer struct {
	Name    string
	Do      func(context.Context, Call) (result any, err error)
	Undo    func(context.Context, Call) error
	Observe func(context.Context, Call) (upToDate bool, err error) // nil: it can't observe
	Every   time.Duration                                          // between two observations of an effect
	Timeout time.Duration                                          // of one call
}

// Call is what a performer receives. Its fields are those of the public effects.Call.
type Call struct {
	Owner   types.NamespacedName
	Key     string
	ID      string
	Payload json.RawMessage
	Secrets map[string]map[string][]byte
	Attempt int
}

// Performers are the performers of an operator, and when they last observed each effect. That time is in memory only, so that a new
// process observes every effect once.
type Performers struct {
	byName map[string]*Performer

	mu       sync.Mutex
	observed map[types.UID]observation // by journal
}

// observation is the last one of an effect.
type observation struct {
	next  time.Time
	error string
}

// NewPerformers returns the performers of an operator; nil for none.
func NewPerformers(declared []Performer) *Performers {
	if len(declared) == 0 {
		return nil
	}
	ps := &Performers{byName: map[string]*Performer{}, observed: map[types.UID]observation{}}
	for i := range declared {
		ps.byName[declared[i].Name] = &declared[i]
	}
	return ps
}

// Has reports whether there is a performer of a name.
func (ps *Performers) Has(name string) bool { return ps != nil && ps.byName[name] != nil }

// Of returns the performer of a journal.
func (ps *Performers) Of(j *Journal) (*Performer, error) {
	if p := ps.byName[j.Performer]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("the operator has no performer %q; declare it, or set the annotation %s on the owner",
		j.Performer, wellknown.AnnotationAbandonEffects)
}

// ObserveIn returns the time until an effect's next observation; negative for never.
func (ps *Performers) ObserveIn(p *Performer, j *Journal, now time.Time) time.Duration {
	if p.Observe == nil {
		return -1
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return max(0, ps.observed[j.Object.UID].next.Sub(now))
}

// afterFailure is the time after which an observation that has failed is repeated.
const afterFailure = time.Minute

// Observed notes that an effect was observed, perhaps with an error, or performed, which counts as an observation.
func (ps *Performers) Observed(p *Performer, j *Journal, now time.Time, err error) {
	if p.Observe == nil {
		return
	}
	o := observation{next: now.Add(p.Every)}
	if err != nil {
		o = observation{next: now.Add(min(p.Every, afterFailure)), error: shortError(err)}
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.observed[j.Object.UID] = o
}

// ObservationError returns the error of an effect's last observation, empty for none.
func (ps *Performers) ObservationError(j *Journal) string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.observed[j.Object.UID].error
}

// Forget forgets an effect whose journal is gone.
func (ps *Performers) Forget(j *Journal) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	delete(ps.observed, j.Object.UID)
}

// CallDo calls the performer, and returns the result as JSON.
func (p *Performer) CallDo(ctx context.Context, c Call) (data json.RawMessage, err error) {
	err = p.call(ctx, c, func(ctx context.Context) error {
		result, err := p.Do(ctx, c)
		if err != nil || result == nil {
			return err
		}
		if data, err = json.Marshal(result); err != nil {
			return fmt.Errorf("the result is a %T, which has no JSON form: %w", result, err)
		}
		if len(data) > maxResult {
			return fmt.Errorf("the result has %d bytes; a journal takes %d", len(data), maxResult)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// CallUndo calls the performer.
func (p *Performer) CallUndo(ctx context.Context, c Call) error {
	return p.call(ctx, c, func(ctx context.Context) error { return p.Undo(ctx, c) })
}

// CallObserve calls the performer.
func (p *Performer) CallObserve(ctx context.Context, c Call) (upToDate bool, err error) {
	err = p.call(ctx, c, func(ctx context.Context) (err error) {
		upToDate, err = p.Observe(ctx, c)
		return err
	})
	return upToDate, err
}

// call makes a call within the performer's timeout. A panic is an error. The error doesn't have the values of the call's Secrets, because
// the journal, conditions and events have it.
func (p *Performer) call(ctx context.Context, c Call, do func(context.Context) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			log.FromContext(ctx).Error(nil, "a performer must not panic", "performer", p.Name, "key", c.Key, "stack", string(debug.Stack()))
			err = c.withoutSecrets(fmt.Errorf("the performer panicked: %v; the log has the stack", cause))
		}
	}()
	return c.withoutSecrets(do(ctx))
}

// leastSecret is the length in bytes from which a value of a Secret is removed from errors. Shorter ones would match other text.
const leastSecret = 6

// withoutSecrets returns an error without the values of the call's Secrets in its text.
func (c Call) withoutSecrets(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range c.Secrets {
		for _, value := range secret {
			if len(value) >= leastSecret {
				text = strings.ReplaceAll(text, string(value), "(secret)")
			}
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

// maxResult and maxPayload limit what a journal has, in bytes: the API server takes 256 KiB of annotations.
const (
	maxResult  = 16 << 10
	maxPayload = 128 << 10
)

// shortError returns an error's text as a journal has it.
func shortError(err error) string { return text.Shorten(err.Error(), text.MaxMessage) }
