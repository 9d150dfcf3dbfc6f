package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// FieldDiff is a field that a write would change. The values in a Secret's data are hidden: they read "***".
type FieldDiff struct {
	// Path leads to the field: spec.template.spec.containers[name=web].image, data["tls.crt"].
	Path string
	// Old and New are its values as decoded from JSON; nil where it isn't set.
	Old, New any
}

// Diff returns the result that Reconcile would have now, and writes nothing: its Changes are those that Reconcile would make, with the
// fields that would differ, and its String shows them. The API server is asked to try each write (a dry run), so that its defaults,
// its admission and its refusals are in the answer: the errors are those that Reconcile would return, and the result beside them has
// the rest. Objects that are up to date cost no request, others one each; one that was created and never changed since may cost
// two. No events are emitted, and nothing is counted.
//
// A dry run needs the permissions of the write. What depends on an object that doesn't exist yet (an object in a
// namespace that would be created) is refused as it would be without it.
func (b *Builder) Diff(ctx context.Context) (Result, error) {
	dry := *b
	dry.engine = b.engine.dryRun()
	writes := map[store.Key]*apply.Write{}
	res, err := dry.reconcile(ctx, writes)
	for i := range res.Changes {
		c := &res.Changes[i]
		w := writes[c.Key]
		if w == nil || c.Reason == events.ReasonDeleted {
			continue
		}
		changes, wrong := w.Diff()
		if wrong != nil {
			return res, wrong
		}
		for _, change := range changes {
			c.Fields = append(c.Fields, FieldDiff(change))
		}
	}
	return res, err
}

// String renders the changes, a line for each object and for each value that Diff found, empty if there are none. An object is
// created (+), changed (~), deleted to be recreated (-/+), deleted (-), or waits for another to go (?). What another field manager
// keeps in it is marked (!). For example:
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
			line(&text, "-", f.Path, f.Old)
			line(&text, "+", f.Path, f.New)
		}
		for _, left := range c.left {
			fmt.Fprintf(&text, "!     %s\n", left)
		}
	}
	for _, key := range r.Waiting {
		fmt.Fprintf(&text, "? %s waits\n", key)
	}
	return text.String()
}

var signs = map[string]string{
	events.ReasonCreated: "+", events.ReasonAdopted: "~", events.ReasonUpdated: "~", events.ReasonRecreating: "-/+",
	events.ReasonDeleted: "-",
}

func line(text *strings.Builder, sign, path string, value any) {
	if value == nil {
		return
	}
	fmt.Fprintf(text, "%s     %s: %s\n", sign, path, rendered(value))
}

// rendered writes a value as JSON, so that a text differs from a number, and a list is one line.
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
