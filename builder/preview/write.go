package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"

	disrupt "github.com/armature-dev/armature/builder/internal/disruption"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/store"
)

// Summary is the report in one line: "840 owners: 828 unchanged, 12 change; 3 would restart pods (WebApp api/orders:
// spec.template.spec.containers[name=web].image "a" -> "b"), 0 deletes, 0 refused". In the parentheses is the first of them.
func (r *Report) Summary() string {
	text := fmt.Sprintf("%d owners: %d unchanged", r.Owners, r.Unchanged)
	if r.Owners == 1 {
		text = fmt.Sprintf("1 owner: %d unchanged", r.Unchanged)
	}
	if r.StatusOnly > 0 {
		text += fmt.Sprintf(", %d in status only", r.StatusOnly)
	}
	if r.Changed > 0 {
		text += fmt.Sprintf(", %d change", r.Changed)
	}
	if r.Changed+r.Refused == 0 {
		return text
	}
	text += fmt.Sprintf("; %d would restart pods%s", r.RestartsPods, r.firstRestart())
	if r.ScalesDown > 0 {
		text += fmt.Sprintf(", %d would scale down", r.ScalesDown)
	}
	return text + fmt.Sprintf(", %d deletes, %d refused", r.Deletes, r.Refused)
}

// firstRestart says which owner is the first whose pods would restart, and why: an image, if that changes, or another field.
func (r *Report) firstRestart() string {
	for _, o := range r.Details {
		i := slices.IndexFunc(o.Changes, Change.restartsPods)
		if i < 0 {
			continue
		}
		fields := slices.DeleteFunc(slices.Clone(o.Changes[i].Fields), func(f Field) bool { return !disrupt.IsOfPodTemplate(f.Path) })
		f := fields[max(0, slices.IndexFunc(fields, func(f Field) bool { return strings.HasSuffix(f.Path, ".image") }))]
		return fmt.Sprintf(" (%s: %s %s -> %s)", o.title(), f.Path, value(f.Old), value(f.New))
	}
	return ""
}

// WriteText writes the summary, and a line for each change. With fields it also writes the fields that would differ.
func (r *Report) WriteText(w io.Writer, fields bool) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.Summary())
	if len(r.Estimated) > 0 {
		fmt.Fprintln(&b, r.estimate())
	}
	for _, o := range r.Details {
		fmt.Fprintf(&b, "\n%s%s\n", o.title(), o.remark())
		for _, c := range o.Changes {
			fmt.Fprintf(&b, "  %s %s%s\n", c.Operation, c.Object, c.remark())
			if fields {
				writeFields(&b, c.Fields)
			}
		}
		if len(o.Status) > 0 {
			fmt.Fprintln(&b, "  update its status")
			if fields {
				writeFields(&b, o.Status)
			}
		}
		for _, what := range o.Effects {
			fmt.Fprintf(&b, "  %s\n", what)
		}
		for _, key := range o.Later {
			fmt.Fprintf(&b, "  later %s\n", key)
		}
		for _, p := range o.Problems {
			fmt.Fprintf(&b, "  problem: %s\n", p)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFields(b *strings.Builder, fields []Field) {
	for _, f := range fields {
		fmt.Fprintf(b, "      %s: %s -> %s%s\n", f.Path, value(f.Old), value(f.New), f.remark())
	}
}

// WriteMarkdown writes the report for a pull request: the summary, and a table of the changes.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", r.Summary())
	if len(r.Estimated) > 0 {
		fmt.Fprintf(&b, "\n%s\n", r.estimate())
	}
	if len(r.Details) > 0 {
		b.WriteString("\n| owner | change | disrupts | fields |\n|---|---|---|---|\n")
	}
	for _, o := range r.Details {
		for _, c := range o.Changes {
			drift := ""
			if c.Drift {
				drift = " (drift)"
			}
			row(&b, o.title()+o.remark(), c.Operation+" "+c.Object+drift, c.Disruption, cell(c.Fields))
		}
		if len(o.Status) > 0 {
			row(&b, o.title()+o.remark(), "update its status", "", cell(o.Status))
		}
		for _, what := range o.Effects {
			row(&b, o.title()+o.remark(), what, "", "")
		}
		for _, key := range o.Later {
			row(&b, o.title()+o.remark(), "later "+key, "", "")
		}
		for _, p := range o.Problems {
			row(&b, o.title(), "problem", "", p)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// estimate says which changes the API server didn't check.
func (r *Report) estimate() string {
	return "Estimated, because these credentials don't permit it: " + strings.Join(r.Estimated, ", ") +
		". Without the API server's defaults, its admission, and what it would refuse."
}

func row(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| " + strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell) + " ")
	}
	b.WriteString("|\n")
}

// cell has the first fields.
func cell(fields []Field) string {
	var all []string
	for _, f := range fields {
		all = append(all, "`"+f.Path+"`: "+value(f.Old)+" → "+value(f.New)+f.remark())
	}
	return strings.Join(text.Few(all, 5), "<br>")
}

func (o Owner) title() string {
	return store.Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}

// remark is what follows the owner in a line.
func (o Owner) remark() string {
	if o.Held == "" {
		return ""
	}
	return " (" + o.Held + ")"
}

// remark is what follows the object in a line.
func (c Change) remark() string {
	var all []string
	if c.Drift {
		all = append(all, "drift")
	}
	if c.Disruption != "" && !c.deletes() { // which say it themselves
		all = append(all, c.Disruption)
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// remark is what follows the field in a line.
func (f Field) remark() string {
	if f.ByServer {
		return " (by the API server)"
	}
	return ""
}

// longest is the length at which a value is cut.
const longest = 200

func value(v any) string {
	if v == nil {
		return "(none)"
	}
	shown := []rune(text.JSON(v))
	if len(shown) > longest {
		return string(shown[:longest]) + "..."
	}
	return string(shown)
}
