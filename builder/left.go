package builder

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
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
	if w.initial.GetAnnotations()[wellknown.AnnotationDigest] != "" {
		return
	}
	left := p.engine.fieldManager(w.desired).SetByOthers(applied.GetManagedFields())
	if len(left) == 0 {
		return
	}
	live, err := payload.Stored(applied)
	if err != nil {
		return
	}
	fresh := map[string]any{}
	if tried := w.try(ctx, p); tried.err == nil {
		if fields, err := payload.Stored(tried.object); err == nil {
			fresh = fields
		}
	}
	for _, entry := range left {
		if fields := entry.Paths(live, fresh); len(fields) > 0 {
			w.left = append(w.left, fieldsLeft{entry.Manager, fields})
			log.FromContext(ctx).Info("fields of another manager stay, though they aren't desired", "child", w.desired.key.String(),
				"manager", entry.Manager, "fields", fields)
		}
	}
}

// event tells of fields that stay, and how they would go.
func (l fieldsLeft) event(c Change) events.Event {
	const most = 6
	shown := l.fields[:min(most, len(l.fields))]
	fields := strings.Join(shown, ", ")
	if more := len(l.fields) - most; more > 0 {
		fields += fmt.Sprintf(" and %d more", more)
	}
	owned := "OwnedOnly: true, "
	if c.Reason == events.ReasonAdopted {
		owned = ""
	}
	ev := events.Warning(events.ReasonFieldsLeft, fmt.Sprintf(
		"%s %s keeps %s, which aren't desired: field manager %s has set them. If that is a former version of this program, give the child "+
			"builder.Adopt(builder.AdoptOptions{%sFormerManagers: []string{%q}}), and they go",
		c.Key.Kind, c.Key.Name, fields, l.manager, owned, l.manager))
	ev.Action = events.ActionApply
	return ev.About(c.object)
}

// String is the line in [Result.String].
func (l fieldsLeft) String() string {
	return fmt.Sprintf("kept by field manager %s: %s", l.manager, strings.Join(l.fields, ", "))
}
