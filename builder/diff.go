package builder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// FieldDiff is a field that a write would change. The values of a Secret's data are hidden: they read "***".
type FieldDiff struct {
	// Path is the field's path: spec.template.spec.containers[name=web].image, data["tls.crt"].
	Path string
	// Old and New are the field's values as decoded from JSON; nil if the field isn't set.
	Old, New any
	// ByServer is true if New isn't what the program asked for: the API server's admission or defaults set it, or it writes the value in
	// another way. Of a new object only the fields that the program sets are listed, with labels and annotations that admission adds.
	ByServer bool
}

// Diff returns the result that Reconcile would return now, and writes nothing. The result's Changes have the fields that would differ;
// its String method shows them. The API server runs each write as a dry run, so the result includes its defaults, its admission and
// its errors: Diff returns the errors that Reconcile would return, and beside them the rest of the result. An unchanged object costs
// no request, another one costs one; an object that was created and never changed since may cost two. Diff emits no events and counts
// no metrics.
//
// A dry run needs the permissions of the write. The API server refuses an object that depends on one that doesn't exist yet, such as
// an object in a namespace that the pass would create.
func (b *Builder) Diff(ctx context.Context) (Result, error) {
	dry := *b
	dry.engine = b.engine.dryRun()
	writes := map[store.Key]*apply.Write{}
	res, err := dry.reconcile(ctx, writes)
	return res, errors.Join(addFields(res, writes), err)
}

// Diff returns the result that the next pass over an owner would have, and writes nothing: see [Builder.Diff]. It calls External and the
// plan, and reads through the manager's cache, so the operator must be complete and its manager running. Of a roll-out it has the
// changes of the current phase; later phases are in Result.Pending. For an owner that doesn't exist the result is empty.
//
// The last changes are those of the owner itself: [events.ReasonUpdated] with the fields of the status that would differ, and
// [events.ReasonDeleted] if the plan deletes it. A status of which only times differ isn't a change. After an error Diff doesn't compare
// the status.
func (o *Operator[T]) Diff(ctx context.Context, owner types.NamespacedName) (Result, error) {
	if o.completed == nil {
		return Result{}, fmt.Errorf("operator %s: %w: Diff before Complete", o.name, ErrMisuse)
	}
	return o.completed.reconciler.diff(ctx, owner)
}

// diff runs a pass over an owner whose writes are dry runs.
func (r *reconciler[T]) diff(ctx context.Context, key types.NamespacedName) (Result, error) {
	dry := r.engine.dryRun()
	owner := newOwner[T]()
	if err := dry.client.Get(ctx, key, owner); err != nil {
		return Result{}, client.IgnoreNotFound(err)
	}
	if isPaused(owner) {
		return r.diffPaused(ctx, dry, owner)
	}
	p, err := dry.newPass(owner)
	if err != nil {
		return Result{}, err
	}
	p.dryWrites = map[store.Key]*apply.Write{}
	view, err := r.observe(ctx, p, owner)
	if err != nil {
		return Result{}, err
	}
	plan, err := r.makePlan(ctx, owner, view.WithContext(ctx))
	if err != nil {
		return Result{}, err
	}
	p.instructions = plan.instructions()
	carryOut := p.carryOut
	if r.effects != nil {
		p.effects, carryOut = r.effects, p.carryOutWithEffects
	}
	err = carryOut(ctx)
	res := p.finish(err)
	if errors.Is(err, errOwnerGone) {
		return Result{}, nil
	}
	if held := waitsForTurn(p); held != nil {
		res.Pending = append(res.Pending, *held)
	}
	if err = errors.Join(addFields(res, p.dryWrites), err); err != nil {
		return res, err
	}
	res.planWaitsFor = plan.WaitingFor
	own, err := r.diffOwner(ctx, dry, owner, plan, res)
	res.Changes = append(res.Changes, own...)
	return res, err
}

// addFields adds to the changes of a dry run the fields that differ.
func addFields(res Result, writes map[store.Key]*apply.Write) error {
	for i := range res.Changes {
		c := &res.Changes[i]
		w := writes[c.Key]
		if w == nil || c.Reason == events.ReasonDeleted {
			continue
		}
		c.Drift = w.IsDrift()
		changes, err := w.Diff()
		if err != nil {
			return err
		}
		for _, change := range changes {
			c.Fields = append(c.Fields, FieldDiff(change))
		}
	}
	return nil
}

// String renders the changes, one line for each object and for each value that [Builder.Diff] found. It is empty without changes. An
// object is created (+), changed (~), deleted to be recreated (-/+), deleted (-), or waits for a terminating object (?). Fields that
// another field manager keeps in an object have the mark (!). For example:
//
//	~ Deployment.apps default/web
//	-     spec.replicas: 2
//	+     spec.replicas: 3
//	- Secret default/old
func (r Result) String() string {
	var text strings.Builder
	for _, c := range r.Changes {
		fmt.Fprintf(&text, "%s %s\n", signs[c.Reason], c.Key)
		for _, f := range c.Fields {
			line(&text, "-", f.Path, f.Old, "")
			line(&text, "+", f.Path, f.New, byServer[f.ByServer])
		}
		for _, left := range c.left {
			fmt.Fprintf(&text, "!     %s\n", left)
		}
	}
	for _, child := range r.waiting() {
		fmt.Fprintf(&text, "? %s waits\n", child.Key)
	}
	return text.String()
}

var signs = map[string]string{
	events.ReasonCreated: "+", events.ReasonAdopted: "~", events.ReasonUpdated: "~", events.ReasonRecreating: "-/+",
	events.ReasonDeleted: "-",
}

// byServer is the remark to a new value.
var byServer = map[bool]string{true: " (by the API server)"}

func line(text *strings.Builder, sign, path string, value any, remark string) {
	if value == nil {
		return
	}
	fmt.Fprintf(text, "%s     %s: %s%s\n", sign, path, rendered(value), remark)
}

// rendered returns a value as JSON on one line, so that a string differs from a number.
func rendered(value any) string {
	if text, ok := value.(string); ok && strings.HasPrefix(text, apply.Mask) {
		return text
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
