package turns

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Settings are those of all operators of a program.
type Settings struct {
	// Limit is the number of an operator's owners that may be in their turn at once.
	Limit Limit
	// ReadyWithin is the time that an owner may need to become ready.
	ReadyWithin time.Duration
	// Namespace is where the records are, and Prefix the beginning of their names.
	Namespace, Prefix string
	// Build is the digest of the program's build.
	Build string
}

// Operator is one operator, as this package uses it.
type Operator struct {
	// Name is the operator's name.
	Name string
	// Owner is the kind of its owners.
	Owner schema.GroupVersionKind
	// Client writes the record, and Live reads it past the cache.
	Client client.Client
	Live   client.Reader
	// List returns the owners.
	List func(context.Context) ([]client.Object, error)
	// Conditions returns the conditions of an owner.
	Conditions func(client.Object) []metav1.Condition
	// Now returns the current time.
	Now func() time.Time
}

const (
	// refreshEvery is how often the record is read while owners wait. A user may have changed it.
	refreshEvery = 5 * time.Second
	// trustFor is how long the result of a dry pass over a waiting owner is used again.
	trustFor = 5 * time.Minute
)

// Turns are the turns of one operator's owners. It is safe for concurrent use.
type Turns struct {
	Settings
	operator Operator
	counts   telemetry.Turns

	complete atomic.Bool // nothing is held any more

	mu     sync.Mutex
	opened bool
	record Record
	found  *corev1.ConfigMap // that has the record
	readAt time.Time
	owners int                                 // when the roll-out was opened
	todo   map[types.NamespacedName]*candidate // the owners that may need a turn, or are in it
	inTurn map[types.NamespacedName]struct{}   // those in their turn
	// settled are those that need no turn of this build any more. If the record must be read again, they aren't todo again: nothing causes
	// another pass of them.
	settled map[types.NamespacedName]struct{}
	halting map[types.NamespacedName]struct{} // those whose mark halts the roll-out, whatever a user has decided
}

// candidate is an owner that may need a turn.
type candidate struct {
	uid        types.UID
	generation int64
	first      bool      // it goes before others: a canary, or in its turn of an earlier roll-out, so that it may not be ready
	why        string    // what its turn disrupts, as of a dry pass; empty if that isn't known
	whyAt      time.Time // when the dry pass was
}

// New returns the turns of an operator's owners.
func New(s Settings, o Operator) *Turns {
	return &Turns{
		Settings: s, operator: o, counts: telemetry.NewTurns(o.Name),
		settled: map[types.NamespacedName]struct{}{}, halting: map[types.NamespacedName]struct{}{},
	}
}

// open reads the owners and the record, once, and begins a roll-out if the record is of another build. It must be called before the
// other methods. It returns errors of the API server, after which the caller tries again.
func (t *Turns) open(ctx context.Context) error {
	if t.complete.Load() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.openLocked(ctx)
}

func (t *Turns) openLocked(ctx context.Context) error {
	if t.opened {
		return nil
	}
	record, found, err := t.readRecord(ctx)
	if err != nil {
		return err
	}
	now := t.operator.Now()
	if record == nil || record.Build != t.Build {
		record = &Record{ID: newID(t.Build, now), Build: t.Build, State: Progressing, Owner: t.operator.Owner}
	}
	was := *record
	if record.State != Complete {
		if err := t.list(ctx, record.ID); err != nil {
			return err
		}
		if len(t.todo) == 0 {
			record.State = Complete
		}
		record.Limit = t.Limit.String()
	}
	if found == nil || record.ID != found.Data[keyID] || record.State != was.State || record.Limit != was.Limit {
		if err := t.writeRecord(ctx, *record, found); err != nil {
			return err
		}
		if _, found, err = t.readRecord(ctx); err != nil {
			return err
		}
	}
	t.record, t.found, t.readAt, t.opened = *record, found, now, true
	t.recount()
	if record.State == Complete {
		t.end()
	}
	return nil
}

// end holds nothing any more, and remembers nothing.
func (t *Turns) end() {
	t.todo, t.inTurn, t.settled = nil, nil, nil
	t.complete.Store(true)
}

// list reads the owners that may need a turn.
func (t *Turns) list(ctx context.Context, id string) error {
	owners, err := t.operator.List(ctx)
	if err != nil {
		return err
	}
	t.owners, t.todo, t.inTurn = len(owners), map[types.NamespacedName]*candidate{}, map[types.NamespacedName]struct{}{}
	for _, owner := range owners {
		mark := MarkOf(t.operator.Conditions(owner))
		isPaused := wellknown.IsPaused(owner.GetAnnotations())
		if owner.GetDeletionTimestamp() != nil || mark.isOver(id) || isPaused && !mark.IsInTurn() {
			continue
		}
		key := client.ObjectKeyFromObject(owner)
		if _, is := t.settled[key]; is {
			continue
		}
		t.todo[key] = &candidate{uid: owner.GetUID(), generation: owner.GetGeneration(), first: isCanary(owner) || mark.IsInTurn()}
		if mark.IsInTurn() {
			t.inTurn[key] = struct{}{}
		}
	}
	return nil
}

func isCanary(owner client.Object) bool { return owner.GetLabels()[wellknown.LabelCanary] == "true" }

// standing is how an owner stands in a roll-out.
type standing int

const (
	// free means that nothing of the owner is held.
	free standing = iota
	// changedByUser means that nothing is held, because a user has changed the owner's spec.
	changedByUser
	// inTurn means that the owner is in its turn.
	inTurn
	// undecided means that a dry pass must show whether the owner needs a turn.
	undecided
)

// standing returns how an owner stands.
func (t *Turns) standing(owner client.Object) standing {
	if t.complete.Load() {
		return free
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	c := t.todo[key]
	if c == nil {
		return free
	}
	conditions := t.operator.Conditions(owner)
	mark := MarkOf(conditions)
	switch {
	case mark.IsInTurn() && mark.ID == t.record.ID:
		return inTurn
	case c.uid != owner.GetUID() || mark.isOver(t.record.ID):
		return free
	case c.generation != owner.GetGeneration() || isChangedByUser(owner.GetGeneration(), conditions):
		return changedByUser
	default:
		c.first = c.first || isCanary(owner)
		return undecided
	}
}

// id returns the name of the roll-out.
func (t *Turns) id() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.record.ID
}

// disruption returns what the owner's turn disrupts, if a recent dry pass has shown that.
func (t *Turns) disruption(owner client.Object) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.todo[client.ObjectKeyFromObject(owner)]
	if c == nil || c.why == "" {
		return "", false
	}
	if t.operator.Now().Sub(c.whyAt) >= trustFor {
		c.why = "" // the next dry pass counts from then, although it may show the same
		return "", false
	}
	return c.why, true
}

// ask asks for the turn of an owner, and reports whether it may begin. why is what it disrupts.
func (t *Turns) ask(ctx context.Context, owner client.Object, why string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	c := t.todo[key]
	if c == nil {
		return true, nil
	}
	if c.why != why {
		c.why, c.whyAt = why, t.operator.Now()
	}
	if err := t.refresh(ctx); err != nil {
		return false, err
	}
	delete(t.inTurn, key) // of an earlier roll-out: the owner itself needs the turn
	return t.grant(key, c), nil
}

// askWithoutPlan asks for the turn of an owner that has no plan. It has one only if others wait for it: goesFirst. The pass changes
// nothing, but a later one may have a plan, so that the turn counts as any other.
func (t *Turns) askWithoutPlan(ctx context.Context, owner client.Object) (goesFirst, granted bool, err error) {
	if t.complete.Load() {
		return false, false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	c := t.todo[key]
	if c == nil || c.uid != owner.GetUID() || !c.first && !isCanary(owner) {
		return false, false, nil
	}
	c.first = true
	if err := t.refresh(ctx); err != nil {
		return false, false, err
	}
	if t.isPassed(key) {
		return false, false, nil
	}
	delete(t.inTurn, key) // of an earlier roll-out: the owner itself needs the turn
	return true, t.grant(key, c), nil
}

// grant begins the turn of an owner if it may begin, and reports that.
func (t *Turns) grant(key types.NamespacedName, c *candidate) bool {
	if !t.opened || t.record.State != Progressing || !c.first && t.hasFirst() {
		return false
	}
	running := 0
	for other := range t.inTurn {
		if other != key && !t.isPassed(other) { // it may be in its turn of an earlier roll-out
			running++
		}
	}
	if running >= t.Limit.Of(t.owners) {
		return false
	}
	t.inTurn[key] = struct{}{}
	return true
}

// hasFirst reports whether an owner that goes before others waits, is in its turn, or hasn't been looked at yet.
func (t *Turns) hasFirst() bool {
	for key, c := range t.todo {
		if c.first && !t.isPassed(key) {
			return true
		}
	}
	return false
}

func (t *Turns) isPassed(key types.NamespacedName) bool {
	return slices.Contains(t.record.Passed, key.String())
}

// refresh reads the record again, now and then.
func (t *Turns) refresh(ctx context.Context) error {
	if t.operator.Now().Sub(t.readAt) < refreshEvery {
		return nil
	}
	record, found, err := t.readRecord(ctx)
	if err != nil {
		return err
	}
	t.readAt = t.operator.Now()
	if record == nil || record.ID != t.record.ID { // a user has deleted it, or another build has begun its roll-out
		t.opened = false
		return nil
	}
	t.record, t.found = *record, found
	t.recount()
	return nil
}

// begin notes that an owner is in its turn, as its mark says. An owner that halts the roll-out reads the user's decision, because there
// may be no other owner that waits and does so.
func (t *Turns) begin(ctx context.Context, owner client.Object, m Mark) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inTurn[client.ObjectKeyFromObject(owner)] = struct{}{}
	if m.Reason != events.ReasonRolloutHalted {
		return nil
	}
	return t.refresh(ctx)
}

// HoldsUp reports whether others may wait for an owner: it is in its turn, or goes before them.
func (t *Turns) HoldsUp(owner client.Object) bool {
	if t.complete.Load() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	c := t.todo[key]
	_, isInTurn := t.inTurn[key]
	return c != nil && (isInTurn || c.first || isCanary(owner))
}

// Settle notes that an owner needs no turn, or has become ready in its turn.
func (t *Turns) Settle(ctx context.Context, key types.NamespacedName) error {
	return t.remove(ctx, key, true)
}

// Pause notes that an owner is paused. If it is in its turn, it keeps that and halts the roll-out: Pause reports it, and reads the user's
// decision.
func (t *Turns) Pause(ctx context.Context, owner client.Object) (bool, error) {
	key, mark := client.ObjectKeyFromObject(owner), MarkOf(t.operator.Conditions(owner)).OfPaused()
	if mark == (Mark{}) {
		t.Count(key, mark)
		return false, t.remove(ctx, key, false)
	}
	if err := t.open(ctx); err != nil {
		return false, err
	}
	t.Count(key, mark)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.todo[key] == nil { // or the roll-out is complete
		return false, nil
	}
	t.inTurn[key] = struct{}{}
	return true, t.refresh(ctx)
}

// Forget notes that an owner is gone.
func (t *Turns) Forget(ctx context.Context, key types.NamespacedName) error {
	t.Count(key, Mark{})
	err := t.remove(ctx, key, true)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.settled, key)
	return err
}

func (t *Turns) remove(ctx context.Context, key types.NamespacedName, evenInTurn bool) error {
	if t.complete.Load() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, is := t.inTurn[key]; t.todo == nil || is && !evenInTurn { // before the first open, or after the end
		return nil
	}
	delete(t.inTurn, key)
	delete(t.todo, key)
	t.settled[key] = struct{}{}
	if !t.opened || len(t.todo) > 0 {
		return nil
	}
	// A user may have decided since the record was read: only owners that wait read it.
	t.readAt = time.Time{}
	if err := t.refresh(ctx); err != nil {
		return err
	}
	if !t.opened { // a roll-out that nobody has to wait for
		return t.openLocked(ctx)
	}
	record := t.record
	record.State = Complete
	if err := t.writeRecord(ctx, record, t.found); err != nil {
		return err
	}
	t.end()
	return nil
}
