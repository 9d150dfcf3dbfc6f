package builder

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/events"
)

// fieldsLeft are fields of a child that aren't desired and stay, since another manager has set them.
type fieldsLeft struct {
	manager string
	fields  []string
}

// noteLeft finds out, when the builder writes an object for the first time, what other managers have set in it that isn't
// desired. One of them may be what wrote the object before there was a builder, under a name that this program doesn't
// know; then its fields would stay for ever, and no one would notice.
func (w *write) noteLeft(ctx context.Context, p *pass, applied client.Object) {
	if w.seen.GetAnnotations()[AnnotationDigest] != "" {
		return
	}
	left := p.engine.setByOthers(applied, w.desired)
	if len(left) == 0 {
		return
	}
	live, err := storedFields(applied)
	if err != nil {
		return
	}
	fresh := map[string]any{}
	if tried := w.try(ctx, p); tried.err == nil {
		if fields, err := storedFields(tried.object); err == nil {
			fresh = fields
		}
	}
	for _, entry := range left {
		if fields := leftPaths(entry.fields, live, fresh); len(fields) > 0 {
			w.left = append(w.left, fieldsLeft{entry.manager, fields})
			log.FromContext(ctx).Info("fields of another manager stay, though they aren't desired", "child", w.desired.key.String(),
				"manager", entry.manager, "fields", fields)
		}
	}
}

// setBy is a set of fields, and who has set them.
type setBy struct {
	manager string
	fields  *fieldpath.Set
}

// setByOthers returns what managers that could be a former version of the program have set alone. What can't be read is
// left out: this is for people.
func (e *Engine) setByOthers(applied client.Object, d *desired) []setBy {
	var candidates []setBy
	known := &fieldpath.Set{}
	for _, entry := range applied.GetManagedFields() {
		fields, err := fieldsOf(entry)
		switch {
		case err != nil, entry.Subresource != "":
		case entry.Manager == e.name || isSomeoneElse(entry.Manager) || e.takesOver(entry, d):
			known = known.Union(fields)
		default:
			candidates = append(candidates, setBy{entry.Manager, fields})
		}
	}
	for i := range candidates {
		alone := &fieldpath.Set{}
		for path := range candidates[i].fields.All() {
			if !known.Has(path) && !delta.HasBelow(known, path) {
				alone.Insert(path.Copy())
			}
		}
		candidates[i].fields = alone
	}
	return slices.DeleteFunc(candidates, func(c setBy) bool { return c.fields.Empty() })
}

// isSomeoneElse reports whether a field manager is known to write to objects of others.
func isSomeoneElse(manager string) bool {
	for _, prefix := range []string{"kubectl", "kube-", "kubelet", "cloud-controller-manager", "cluster-autoscaler", "vpa-", "argocd"} {
		if strings.HasPrefix(manager, prefix) {
			return true
		}
	}
	return strings.Contains(manager, "injector") || strings.Contains(manager, "autoscaler")
}

// leftPaths renders the fields of a set, an element of a list as one. What the API server sets in a new object as well
// isn't left by anyone: it would come back.
func leftPaths(fields *fieldpath.Set, live, fresh map[string]any) []string {
	var paths []string
	for path := range fields.All() {
		if i := slices.IndexFunc(path, func(e fieldpath.PathElement) bool { return e.FieldName == nil }); i >= 0 && fields.Has(path[:i+1]) {
			path = path[:i+1]
		} else if delta.HasBelow(fields, path) {
			continue
		}
		text := textOf(path)
		if delta.Same(live, fresh, path) || slices.Contains(paths, text) {
			continue
		}
		paths = append(paths, text)
	}
	return paths
}

// textOf writes a path as people read it: spec.containers[name=web], data["tls.crt"].
func textOf(path fieldpath.Path) string {
	var text string
	for _, element := range path {
		switch {
		case element.FieldName != nil:
			text = delta.Join(text, *element.FieldName)
		case element.Key != nil:
			var keys []string
			for _, k := range *element.Key {
				keys = append(keys, fmt.Sprintf("%s=%v", k.Name, k.Value.Unstructured()))
			}
			text += "[" + strings.Join(keys, ",") + "]"
		case element.Value != nil:
			text += fmt.Sprintf("[%v]", (*element.Value).Unstructured())
		default:
			text += element.String()
		}
	}
	return text
}

// event tells of fields that stay, and how they would go.
func (l fieldsLeft) event(c Change) events.Event {
	const most = 6
	shown := l.fields[:min(most, len(l.fields))]
	fields := strings.Join(shown, ", ")
	if more := len(l.fields) - most; more > 0 {
		fields += fmt.Sprintf(" and %d more", more)
	}
	policy := "Never"
	if c.Operation == OperationAdopted {
		policy = "IfOrphan"
	}
	ev := events.Warning(events.ReasonFieldsLeft, fmt.Sprintf(
		"%s %s keeps %s, which aren't desired: field manager %s has set them. If that is a former version of this program, give the child "+
			"builder.Adopt(builder.%s, %q), and they go", c.Key.Kind, c.Key.Name, fields, l.manager, policy, l.manager))
	ev.Action = events.ActionApply
	return ev.About(c.object)
}

// String is the line of a Diff.
func (l fieldsLeft) String() string {
	return fmt.Sprintf("kept by field manager %s: %s", l.manager, strings.Join(l.fields, ", "))
}
