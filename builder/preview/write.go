package preview

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Summary is the report in one line: "840 owners: 828 unchanged, 12 change, 3 of them disruptively, 0 with problems".
func (r *Report) Summary() string {
	return fmt.Sprintf("%d owners: %d unchanged, %d change, %d of them disruptively, %d with problems",
		r.Owners, r.Unchanged, r.Changed, r.Disruptive, r.Refused)
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
				for _, f := range c.Fields {
					fmt.Fprintf(&b, "      %s: %s -> %s\n", f.Path, value(f.Old), value(f.New))
				}
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
			var fields []string
			for _, f := range c.Fields {
				fields = append(fields, "`"+f.Path+"`: "+value(f.Old)+" → "+value(f.New))
			}
			drift := ""
			if c.Drift {
				drift = " (drift)"
			}
			row(&b, o.title()+o.remark(), c.Operation+" "+c.Object+drift, c.Disruption, strings.Join(few(fields, 5), "<br>"))
		}
		for _, what := range o.Effects {
			row(&b, o.title()+o.remark(), what, "", "")
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

// few is the beginning of a list, and how many more there are.
func few(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(list[:n:n], fmt.Sprintf("and %d more", len(list)-n))
}

func (o Owner) title() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return o.Kind + " " + name
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
	if c.Disruption != "" && c.Operation != "delete" && c.Operation != "recreate" { // which say it themselves
		all = append(all, c.Disruption)
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// longest is the length at which a value is cut.
const longest = 200

func value(v any) string {
	if v == nil {
		return "(none)"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	text := []rune(strings.TrimSuffix(b.String(), "\n"))
	if len(text) > longest {
		return string(text[:longest]) + "..."
	}
	return string(text)
}
