package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/flight"
	"github.com/armature-dev/armature/builder/internal/payload"
)

// plan renders a plan. The arguments of HashFrom are rendered by hash, when the secrets are known.
func (r renderer) plan(p flight.Plan, hash func(Object) (string, error)) (*Plan, error) {
	rendered := &Plan{
		PruneAll: p.PruneAll, StatusCanWait: p.StatusCanWait, Report: p.Report, WaitingFor: p.WaitingFor, Finish: p.HasFinish,
		DeleteOwner: p.DeleteOwner, RequeueAfter: p.RequeueAfter,
	}
	for _, c := range p.Children {
		child, err := r.child(c, hash)
		if err != nil {
			return nil, err
		}
		rendered.Children = append(rendered.Children, child)
	}
	for _, of := range p.Prune {
		rendered.Prune = append(rendered.Prune, r.kind(of))
	}
	for _, e := range p.Edits {
		edit, err := r.edit(e)
		if err != nil {
			return nil, err
		}
		rendered.Edits = append(rendered.Edits, edit)
	}
	for _, obj := range p.Delete {
		rendered.Delete = append(rendered.Delete, r.name(obj))
	}
	if o := p.Rollout; len(o.Phases) > 0 {
		rendered.Rollout = &Rollout{o.Phases, o.InstallInOrder, o.AlertAfter, o.RollbackAfter, o.CompletedRevision}
	}
	if p.Status != nil {
		after, err := r.object(p.Status)
		if err != nil {
			return nil, err
		}
		rendered.Status = after["status"]
	}
	for _, e := range p.Events {
		event := Event{Type: e.Type, Reason: e.Reason, Action: e.Action, Note: e.Note}
		if related, ok := e.Related.(client.Object); ok {
			event.Related = r.name(related)
		}
		rendered.Events = append(rendered.Events, event)
	}
	return rendered, nil
}

func (r renderer) child(c flight.Child, hash func(Object) (string, error)) (Child, error) {
	obj, err := r.object(c.Object)
	if err != nil {
		return Child{}, err
	}
	child := Child{Object: obj, Phase: c.Phase, CreateOnly: c.CreateOnly, CrossNamespace: c.CrossNamespace, ReadyWhen: c.ReadyWhen != nil}
	if c.Run != nil {
		child.RunOnce = c.Run.Value
	}
	o := c.Options
	if o == nil {
		return child, nil
	}
	child.Retain, child.Ignored, child.KeepImmutable = o.Retain, o.Ignored, o.KeepImmutable
	if o.Recreate != nil {
		child.RecreateImmutable = string(cmp.Or(o.Recreate.Dependents, metav1.DeletePropagationBackground))
	}
	if len(o.FormerManagers) > 0 {
		child.Adopt = &Adopt{Labels: o.AdoptLabels, OwnedOnly: !o.AdoptOrphan}
		for _, former := range o.FormerManagers {
			if former != fieldmanager.KubectlApply {
				child.Adopt.FormerManagers = append(child.Adopt.FormerManagers, former)
			}
		}
	}
	for _, argument := range o.ConfigOf {
		object, err := r.argument(argument)
		if err != nil {
			return Child{}, err
		}
		digest, err := hash(object)
		if err != nil {
			return Child{}, err
		}
		child.HashFrom = append(child.HashFrom, digest)
	}
	return child, nil
}

// argument renders an argument of HashFrom: an object, or any value as the field "value" of one.
func (r renderer) argument(value any) (Object, error) {
	if obj, ok := value.(client.Object); ok {
		return r.object(obj)
	}
	decoded, err := plain(value)
	if err != nil {
		return Object{"value": fmt.Sprintf("%T", value)}, nil //nolint:nilerr // a value without JSON is known by its type
	}
	return Object{"value": decoded}, nil
}

// hashOf returns the digest of an object's JSON.
func hashOf(o Object, known map[string]bool) (string, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(withoutMade(text, known))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func (r renderer) edit(e flight.Edit) (Edit, error) {
	edit := Edit{Object: r.name(e.Before), Replicas: e.Replicas, Foreign: e.Foreign}
	if e.Replicas != nil {
		return edit, nil
	}
	before, err := payload.Stored(e.Before)
	if err != nil {
		return edit, err
	}
	after, err := payload.Stored(e.After)
	if err != nil {
		return edit, err
	}
	secret := r.kind(e.Before) == "Secret"
	edit.Fields = map[string]any{}
	for _, change := range delta.Between(before, after) {
		edit.Fields[change.Path] = change.New
		if secret && change.New != nil {
			edit.Fields[change.Path] = "" // the object in the view has digests
		}
	}
	return edit, nil
}
