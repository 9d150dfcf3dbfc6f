package explaincmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// write prints a finding: the sentence, the path to the object with the problem, and the next step.
func write(w io.Writer, format *output.Flag, f diagnose.Finding) error {
	if done, err := format.Encode(w, f); done {
		return err
	}
	if format.Format == "name" {
		_, err := fmt.Fprintln(w, strings.ToLower(f.Object.Kind)+group(f.Object.APIVersion)+"/"+f.Object.Name)
		return err
	}
	paint := output.PaintFor(w)
	var b strings.Builder
	b.WriteString(paint.In(colour(f.Phase), output.Line(sentence(f))) + "\n")
	if len(f.Path) > 1 || f.Wrong() {
		b.WriteString("\n")
		for i, step := range f.Path {
			branch := ""
			if i > 0 {
				branch = strings.Repeat("   ", i-1) + "└─ "
			}
			b.WriteString(strings.TrimRight("  "+branch+output.Line(step.String())+"  "+paint.In(output.Faint, output.Line(step.State)), " ") + "\n")
		}
	}
	if f.Others > 0 {
		fmt.Fprintf(&b, "\n%s a problem as well.\n", others(f.Others))
	}
	if f.Next != "" {
		b.WriteString("\nNext: " + output.Line(f.Next) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence states the phase of the requested object, and the object with the problem.
func sentence(f diagnose.Finding) string {
	asked := f.Object
	if len(f.Path) > 0 {
		asked = f.Path[0].Ref
	}
	head := asked.String()
	switch f.Phase {
	case diagnose.Failed:
		head += " failed"
	case diagnose.Blocked:
		head += " is blocked"
	default:
		return head + ": " + f.Message
	}
	if asked == f.Object {
		return head + ": " + f.Message
	}
	return head + ": " + f.Object.String() + ": " + f.Message
}

func others(n int) string {
	if n == 1 {
		return "1 other object has"
	}
	return fmt.Sprintf("%d other objects have", n)
}

func colour(p diagnose.Phase) string {
	switch p {
	case diagnose.Failed, diagnose.Blocked:
		return output.Bad
	case diagnose.Starting, diagnose.Waiting:
		return output.Busy
	default:
		return output.Good
	}
}

// group returns a dot and the group of an API version, as kubectl's names of kinds have it.
func group(apiVersion string) string {
	g, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return "." + g
}
