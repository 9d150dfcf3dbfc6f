package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// fieldManager returns the engine's field manager, and those whose fields of a child it takes over.
func (e *Engine) fieldManager(d *desired) fieldmanager.Manager {
	m := fieldmanager.Manager{Name: e.name, Former: d.child.former(), Digest: wellknown.AnnotationDigest}
	if d.neverWritten {
		m.Program = fieldmanager.Program()
	}
	return m
}

// former returns the field managers that a child's options name as former ones.
func (c Child) former() []string {
	if c.how == nil {
		return nil
	}
	return c.how.Former
}

// hasFormer reports whether an object has fields of a manager that Adopt names.
func (e *Engine) hasFormer(found client.Object, d *desired) bool {
	return d.child.how != nil && e.fieldManager(d).HasFormer(found.GetManagedFields())
}

// hasWritten reports whether the engine, or one of another name in an earlier version of the program, has ever written an object.
func (e *Engine) hasWritten(found client.Object) bool {
	return found.GetAnnotations()[wellknown.AnnotationDigest] != "" || fieldmanager.Manager{Name: e.name}.HasWritten(found.GetManagedFields())
}

// controllerOf returns the UID of an object's controller, empty if it has none.
func controllerOf(obj client.Object) types.UID {
	if ref := metav1.GetControllerOfNoCopy(obj); ref != nil {
		return ref.UID
	}
	return ""
}

// fieldsTakenOver returns the managed fields with which an apply removes what isn't desired, and whether they differ.
func (e *Engine) fieldsTakenOver(found client.Object, d *desired) ([]metav1.ManagedFieldsEntry, bool, error) {
	released := fieldmanager.Released{Paths: d.ignored, Fields: d.released}
	return e.fieldManager(d).TakeOver(found.GetManagedFields(), controllerOf(found), released)
}

// takeOverFields writes the managed fields of an object before another desired state is applied, and nothing else of it. Drift is
// repaired without it: then nothing is to be removed.
func (w *write) takeOverFields(ctx context.Context, p *pass) error {
	e, found := p.engine, w.observed
	after, changed, err := e.fieldsTakenOver(found, w.desired)
	if err != nil || !changed {
		return err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": after},
		// Had the object changed, this would be a conflict, and tried again.
		{"op": "replace", "path": "/metadata/resourceVersion", "value": found.GetResourceVersion()},
	})
	if err != nil {
		return err
	}
	obj := found.DeepCopyObject().(client.Object) // the reply is decoded into it
	if err := e.client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(e.name)); err != nil {
		return err
	}
	w.observed = obj
	w.refitted = true
	w.desired.neverWritten = false // what stays under the program's default name is another's from now on
	return nil
}

// emitCorrections emits what was removed from a child so that the API server would take what is desired, and that it isn't known whether
// more should have been.
func (w *write) emitCorrections(p *pass) {
	if p.engine.dry {
		return
	}
	if w.untried != nil && w.operation != "" {
		ev := events.Warning(events.ReasonDryRunRefused, fmt.Sprintf(
			"Applied %s %s without resetting the values that the API server derived from changed fields: the trial of a new object was refused: %s",
			w.desired.key.Kind, w.desired.key.Name, text.Shorten(w.untried.Error(), text.MaxSummary/8)))
		ev.Action, ev.Related = events.ActionApply, w.stored
		p.engine.emit(p.owner, ev)
	}
	if len(w.corrected) == 0 {
		return
	}
	const shown = 3
	var texts []string
	for _, c := range w.corrected[:min(shown, len(w.corrected))] {
		texts = append(texts, fmt.Sprintf("%s, set by the field manager %q", c.Path, c.Manager))
	}
	if more := len(w.corrected) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	p.engine.emit(p.owner, events.Event{
		Type: corev1.EventTypeNormal, Reason: events.ReasonDriftCorrected, Action: events.ActionApply, Related: w.observed,
		Note: fmt.Sprintf("Put %s %s back: removed %s, which the API server refuses beside the desired fields",
			w.desired.key.Kind, w.desired.key.Name, strings.Join(texts, "; ")),
	})
}
