package record

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/armature-dev/armature/internal/text"
)

// WriteText writes what happened in each pass for people: the view, the plan, and what the builder did with it. Objects without values
// are in the file.
func (l *List) WriteText(w io.Writer) error {
	var text strings.Builder
	for i := range l.Items {
		if len(l.Items) > 1 {
			fmt.Fprintf(&text, "pass %d of %d: ", i+1, len(l.Items))
		}
		l.Items[i].text(&text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (p *Pass) text(w *strings.Builder) {
	fmt.Fprintf(w, "%s at %s, operator %s of %s\n", p.OwnerName(), p.View.Time.UTC().Format(time.RFC3339Nano), p.Operator, p.Program)
	fmt.Fprintf(w, "  view\n")
	observed(w, "owned", p.View.Owned)
	observed(w, "watched", p.View.Watched)
	if p.View.External != nil {
		fmt.Fprintf(w, "    external %s\n", p.View.External.GoType)
	}
	fmt.Fprintf(w, "  plan\n")
	p.Plan.text(w)
	if p.PlanError != "" {
		fmt.Fprintf(w, "    invalid: %s\n", p.PlanError)
	}
	fmt.Fprintf(w, "  decision\n")
	for _, c := range p.Result.Changes {
		fmt.Fprintf(w, "    %s %s\n", c.Reason, c.Object)
	}
	if p.Result.Unchanged > 0 {
		fmt.Fprintf(w, "    %d unchanged\n", p.Result.Unchanged)
	}
	for _, r := range p.Requests {
		fmt.Fprintf(w, "    request: %s\n", r)
	}
	for _, c := range p.Result.Pending {
		fmt.Fprintf(w, "    waits for %s: %s %s\n", c.Object, c.Reason, c.Message)
	}
	if p.Error != "" {
		fmt.Fprintf(w, "    failed: %s\n", p.Error)
	}
}

func observed(w *strings.Builder, how string, objects []Object) {
	for _, o := range objects {
		fmt.Fprintf(w, "    %s %s\n", how, nameOf(o))
	}
}

func (p *Plan) text(w *strings.Builder) {
	if p == nil {
		return
	}
	for _, c := range p.Children {
		phase := ""
		if c.Phase != "" {
			phase = " in phase " + c.Phase
		}
		fmt.Fprintf(w, "    child %s%s\n", nameOf(c.Object), phase)
	}
	for _, e := range p.Edits {
		fmt.Fprintf(w, "    edit %s\n", e.Object)
	}
	for _, name := range p.Delete {
		fmt.Fprintf(w, "    delete %s\n", name)
	}
	if p.PruneAll {
		fmt.Fprintf(w, "    prune all kinds\n")
	} else if len(p.Prune) > 0 {
		fmt.Fprintf(w, "    prune %s\n", strings.Join(p.Prune, ", "))
	}
	for _, what := range p.WaitingFor {
		fmt.Fprintf(w, "    wait for %s\n", what)
	}
	for _, e := range p.Events {
		fmt.Fprintf(w, "    event %s %s\n", e.Reason, e.Note)
	}
	if p.Status != nil {
		fmt.Fprintf(w, "    status\n")
	}
	if p.RequeueAfter > 0 {
		fmt.Fprintf(w, "    next pass after %s\n", p.RequeueAfter)
	}
	if p.DeleteOwner {
		fmt.Fprintf(w, "    delete the owner\n")
	}
}

// String returns the request on one line.
func (r Request) String() string {
	text := r.Verb + " " + r.Object
	if r.Subresource != "" {
		text += ", " + r.Subresource
	}
	if r.DryRun {
		text += ", a dry run"
	}
	if r.Error != "" {
		text += ": " + r.Error
	}
	return text
}

// String returns the program's path and version, with the commit if it is known.
func (p Program) String() string {
	text := cmp.Or(p.Path, "an unknown program")
	if p.Version != "" {
		text += " " + p.Version
	}
	if len(p.Revision) >= 12 {
		text += " (" + p.Revision[:12] + ")"
	}
	return text
}

// WriteText writes the differences for people, a line for each value: recorded (-) and replayed (+). It writes nothing if there are none.
func (r *Replayed) WriteText(w io.Writer) error {
	var out strings.Builder
	for _, d := range r.Differences {
		fmt.Fprintf(&out, "  %s\n", d.Path)
		for _, side := range []struct {
			sign  string
			value any
		}{{"-", d.Recorded}, {"+", d.Replayed}} {
			if side.value != nil {
				fmt.Fprintf(&out, "%s   %s\n", side.sign, text.JSON(side.value))
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
