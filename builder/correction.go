package builder

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/events"
)

// correction is a field that was removed, and who had set it.
type correction struct {
	path, manager string
	contended     contendedField
}

// correctionsOf returns which of the removed fields other managers had set.
func correctionsOf(found client.Object, removed []fieldpath.Path, us string) []correction {
	var all []correction
	for _, path := range removed {
		if entry := lastEntryOf(found, path, us); entry != nil {
			list := path // of a whole element it is the list that is contended: the next element may have another key
			for len(list) > 1 && list[len(list)-1].FieldName == nil {
				list = list[:len(list)-1]
			}
			field := contendedField{path: pathName(list), by: managerName(*entry)}
			all = append(all, correction{strings.TrimPrefix(path.String(), "."), entry.Manager, field})
		}
	}
	return all
}

// managerOf returns the last field manager but us that has set a field, or something in it; empty if there is none.
func managerOf(found client.Object, path fieldpath.Path, us string) string {
	if entry := lastEntryOf(found, path, us); entry != nil {
		return entry.Manager
	}
	return ""
}

// lastEntryOf returns that manager's entry; nil if there is none.
func lastEntryOf(found client.Object, path fieldpath.Path, us string) *metav1.ManagedFieldsEntry {
	for _, entry := range slices.Backward(found.GetManagedFields()) {
		set, err := fieldsOf(entry)
		if err != nil || entry.Manager == us {
			continue
		}
		if set.Has(path) || !below(set, path).Empty() {
			return &entry
		}
	}
	return nil
}

func below(set *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	for _, element := range path {
		set = set.WithPrefix(element)
	}
	return set
}

// tellCorrections emits what was removed from a child so that the API server would take what is desired, and that it isn't
// known whether more should have been.
func (w *write) tellCorrections(p *pass) {
	if p.engine.dry {
		return
	}
	if w.untried != nil && w.did != "" {
		ev := events.Warning(events.ReasonDryRunRefused, fmt.Sprintf(
			"Applied %s %s without resetting the values that the API server derived from changed fields: the trial of a new object was refused: %s",
			w.desired.key.Kind, w.desired.key.Name, shorten(w.untried.Error(), maxSummary/8)))
		ev.Action, ev.Related = events.ActionApply, w.stored
		p.engine.emit(p.owner, ev)
	}
	if len(w.corrected) == 0 {
		return
	}
	const shown = 3
	var texts []string
	for _, c := range w.corrected[:min(shown, len(w.corrected))] {
		texts = append(texts, fmt.Sprintf("%s, set by the field manager %q", c.path, c.manager))
	}
	if more := len(w.corrected) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	p.engine.emit(p.owner, events.Event{
		Type: corev1.EventTypeNormal, Reason: events.ReasonDriftCorrected, Action: events.ActionApply, Related: w.found,
		Note: fmt.Sprintf("Put %s %s back: removed %s, which the API server refuses beside the desired fields",
			w.desired.key.Kind, w.desired.key.Name, strings.Join(texts, "; ")),
	})
}
