package preview

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/delta"
	disrupt "github.com/armature-dev/armature/builder/internal/disruption"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/store"
)

// Report is what the operators would do. It is the answer of [Manager.Run], and is JSON.
type Report struct {
	// Owners is the number of owners in the preview.
	Owners int `json:"owners"`
	// Unchanged is the number of owners whose next pass would write nothing.
	Unchanged int `json:"unchanged"`
	// StatusOnly is the number of owners of which only the status changes. It disrupts nothing.
	StatusOnly int `json:"statusOnly"`
	// Changed is the number of owners with changes of other objects, or which are deleted themselves.
	Changed int `json:"changed"`
	// Disruptive is the number of owners with a disruptive change: see the package's comment.
	Disruptive int `json:"disruptive"`
	// RestartsPods is the number of owners with a change that restarts pods.
	RestartsPods int `json:"restartsPods"`
	// ScalesDown is the number of owners with a change that lowers a number of replicas.
	ScalesDown int `json:"scalesDown"`
	// Deletes is the number of objects that would be deleted, also those that would be recreated.
	Deletes int `json:"deletes"`
	// Refused is the number of owners with problems.
	Refused int `json:"refused"`
	// Estimated are the writes that the credentials don't permit, not even as dry runs, such as "patch Deployment.apps". The report has
	// their changes as computed here: without the API server's defaults, its admission, and what it would refuse.
	Estimated []string `json:"estimated,omitempty"`
	// Details are the owners with changes, also of their status only, or problems, ordered by kind, namespace and name.
	Details []Owner `json:"details"`
}

// Owner is what the next pass over one owner would do.
type Owner struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Changes are the objects that would be written, in the order of the operations (create, update, recreate, delete).
	Changes []Change `json:"changes,omitempty"`
	// Status are the fields of the owner's own status that would differ.
	Status []Field `json:"status,omitempty"`
	// Later lists children that wait, such as those of later phases of a roll-out.
	Later []string `json:"later,omitempty"`
	// Effects lists the external effects that would be performed or undone, and what they wait for: see package effects. A preview performs
	// none.
	Effects []string `json:"effects,omitempty"`
	// Held says that the running program holds the owner until its turn in a roll-out; empty if it doesn't. See package release.
	Held string `json:"held,omitempty"`
	// Problems are the errors that the pass would have: what the API server refuses, and invalid plans.
	Problems []string `json:"problems,omitempty"`
}

// Change is what would happen to one object.
type Change struct {
	// Object is the object's kind, namespace and name: "Deployment.apps default/web".
	Object string `json:"object"`
	// Operation is create, adopt, update, recreate or delete.
	Operation string `json:"operation"`
	// Drift is true if the change only undoes what another writer changed; the program desires the same as when it last wrote the object.
	Drift bool `json:"drift,omitempty"`
	// Disruption says what the change disrupts, such as "restarts pods"; empty for nothing.
	Disruption string `json:"disruption,omitempty"`
	// Fields are the fields that would differ; none for a deleted object.
	Fields []Field `json:"fields,omitempty"`
}

// Field is a field that would differ. The values of Secrets are masked.
type Field struct {
	Path string `json:"path"`
	Old  any    `json:"old,omitempty"`
	New  any    `json:"new,omitempty"`
	// ByServer is true if the new value isn't what the program asked for: the API server's admission or defaults set it.
	ByServer bool `json:"byServer,omitempty"`
}

var operations = map[string]string{
	events.ReasonCreated: "create", events.ReasonAdopted: "adopt", events.ReasonUpdated: "update", events.ReasonRecreating: "recreate",
	events.ReasonDeleted: "delete",
}

// add counts owners, and keeps all but the unchanged ones.
func (r *Report) add(owners []Owner) {
	for _, o := range owners {
		if len(o.Changes)+len(o.Effects) > 0 {
			r.Changed++
		}
		if len(o.Problems) > 0 {
			r.Refused++
		}
		r.addDisruptions(o)
		switch {
		case len(o.Changes)+len(o.Effects) > 0 || len(o.Problems) > 0:
		case len(o.Status) > 0:
			r.StatusOnly++
		default:
			r.Unchanged++
			continue
		}
		r.Details = append(r.Details, o)
	}
}

// addDisruptions counts what the changes of an owner disrupt.
func (r *Report) addDisruptions(o Owner) {
	if o.IsDisrupted() {
		r.Disruptive++
	}
	if slices.ContainsFunc(o.Changes, Change.restartsPods) {
		r.RestartsPods++
	}
	if slices.ContainsFunc(o.Changes, Change.scalesDown) {
		r.ScalesDown++
	}
	for _, c := range o.Changes {
		if c.deletes() {
			r.Deletes++
		}
	}
}

func (r *Report) sort() {
	slices.SortStableFunc(r.Details, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// IsDisrupted reports whether a change of the owner is disruptive.
func (o Owner) IsDisrupted() bool {
	return slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Disruption != "" })
}

func (c Change) restartsPods() bool { return strings.HasSuffix(c.Disruption, disrupt.RestartsPods) }

func (c Change) scalesDown() bool { return strings.HasPrefix(c.Disruption, disrupt.ScaledDown) }

func (c Change) deletes() bool { return c.Operation == "delete" || c.Operation == "recreate" }

// ownerOf returns what a pass's result says of an owner.
func ownerOf(kind schema.GroupKind, key types.NamespacedName, res builder.Result, err error) Owner {
	o := Owner{Kind: kind.Kind, Namespace: key.Namespace, Name: key.Name}
	itself := store.Key{Group: kind.Group, Kind: kind.Kind, Namespace: key.Namespace, Name: key.Name}
	for _, c := range res.Changes {
		change := Change{Object: c.Key.String(), Operation: operations[c.Reason], Drift: c.Drift}
		for _, f := range c.Fields {
			change.Fields = append(change.Fields, Field(f))
		}
		if c.Reason == events.ReasonUpdated && c.Key == itself {
			o.Status = change.Fields
			continue
		}
		change.Disruption = disruption(c)
		o.Changes = append(o.Changes, change)
	}
	for _, s := range res.Pending {
		if s.Reason == events.ReasonWaitingForTurn {
			o.Held = s.Message
		}
		if s.Reason == events.ReasonEffectPending || s.Reason == events.ReasonEffectFailed {
			o.Effects = append(o.Effects, s.Message)
		}
		if s.Reason == events.ReasonWaiting || s.Reason == events.ReasonRollingOut {
			o.Later = append(o.Later, s.Key.String())
		}
	}
	for _, e := range errorlist.Of(err) {
		o.Problems = append(o.Problems, e.Error())
	}
	return o
}

// disruption says what a change disrupts.
func disruption(c builder.Change) string {
	fields := make([]delta.Change, len(c.Fields))
	for i, f := range c.Fields {
		fields[i] = delta.Change(f)
	}
	return disrupt.Of(c.Key.Group, c.Reason, fields)
}
