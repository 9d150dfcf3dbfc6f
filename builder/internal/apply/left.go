package apply

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/wellknown"
)

// FieldsLeft are fields of a child that aren't desired and stay, because another manager has set them. Without a manager they stay
// because the API server lets no one remove them.
type FieldsLeft struct {
	Manager string
	Fields  []string
}

// noteLeft finds the undesired fields of other managers when the builder writes an object for the first time under its present name, or
// for the first time since someone reset its managed fields. One of these managers may have written the object before the builder did,
// under a name that this program doesn't know. Its fields would stay forever, unnoticed.
func (w *Write) noteLeft(ctx context.Context, c *Cluster, applied client.Object) {
	hasWritten := fieldmanager.Manager{Name: c.Name}.HasWritten(w.initial.GetManagedFields())
	if hasWritten && w.initial.GetAnnotations()[wellknown.AnnotationDigest] != "" {
		return
	}
	left := c.fieldManager(w.Desired).SetByOthers(applied.GetManagedFields())
	if len(left) == 0 {
		return
	}
	live, err := payload.Stored(applied)
	if err != nil {
		return
	}
	fresh := map[string]any{}
	if tried := w.try(ctx, c); tried.err == nil {
		if fields, err := payload.Stored(tried.object); err == nil {
			fresh = fields
		}
	}
	for _, entry := range left {
		if fields := entry.Paths(live, fresh); len(fields) > 0 {
			w.FieldsLeft = append(w.FieldsLeft, FieldsLeft{entry.Manager, fields})
			log.FromContext(ctx).Info("fields of another manager stay, though they aren't desired", "child", w.Desired.Key.String(),
				"manager", entry.Manager, "fields", fields)
		}
	}
}

// String returns the fields as one line for people.
func (l FieldsLeft) String() string {
	if l.Manager == "" {
		return "kept by the API server: " + strings.Join(l.Fields, ", ")
	}
	return fmt.Sprintf("kept by field manager %s: %s", l.Manager, strings.Join(l.Fields, ", "))
}
