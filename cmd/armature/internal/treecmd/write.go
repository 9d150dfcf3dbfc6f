package treecmd

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// line is a line of a tree.
type line struct {
	branches string // the lines that lead to it
	name     string
	state    string
	health   health
	age      string
	node     string
}

// write prints a tree.
func write(w io.Writer, format *output.Flag, root branch, all bool, now time.Time) error {
	if done, err := format.Encode(w, root); done {
		return err
	}
	var b strings.Builder
	if format.Format == "name" {
		names(&b, root)
	} else {
		table(&b, lines(root, all, now), format.Format == "wide", output.PaintFor(w))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// names writes the objects as kubectl names them, so that its commands can take them.
func names(b *strings.Builder, o branch) {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if ok {
		group = "." + group
	} else {
		group = ""
	}
	fmt.Fprintf(b, "%s%s/%s\n", strings.ToLower(o.Kind), group, o.Name)
	for i := range o.Owned {
		names(b, o.Owned[i])
	}
}

// lines draws a tree, the root first.
func lines(root branch, all bool, now time.Time) []line {
	drawn := []line{lineOf(root, "", now)}
	return append(drawn, below(root, "", all, now)...)
}

func below(o branch, indent string, all bool, now time.Time) []line {
	var drawn []line
	shown := fold(o.Owned, all)
	for i, s := range shown {
		branches, deeper := indent+"├─ ", indent+"│  "
		if i == len(shown)-1 {
			branches, deeper = indent+"└─ ", indent+"   "
		}
		if s.folded != "" {
			drawn = append(drawn, line{branches: branches, name: s.folded})
			continue
		}
		drawn = append(drawn, lineOf(s.branch, branches, now))
		drawn = append(drawn, below(s.branch, deeper, all, now)...)
	}
	return drawn
}

func lineOf(o branch, branches string, now time.Time) line {
	return line{
		branches: branches, name: output.Line(o.String()), state: output.Line(o.State), health: o.health,
		age: duration.HumanDuration(now.Sub(o.Created)), node: output.Line(o.Node),
	}
}

// table writes lines in columns.
func table(b *strings.Builder, all []line, wide bool, paint output.Paint) {
	name, state, age := len("NAME"), len("STATE"), len("AGE")
	for _, l := range all {
		if l.age == "" {
			continue // a folded line may be as long as it is
		}
		name = max(name, utf8.RuneCountInString(l.branches+l.name))
		state = max(state, utf8.RuneCountInString(l.state))
		age = max(age, len(l.age))
	}
	row := func(first, second, colour, third, fourth string) {
		if !wide {
			fourth = ""
		}
		pad := max(0, name-utf8.RuneCountInString(first))
		gap := strings.Repeat(" ", max(0, state-utf8.RuneCountInString(second)))
		text := first + strings.Repeat(" ", pad) + "  " + paint.In(colour, second) + gap + "  "
		b.WriteString(strings.TrimRight(text+fmt.Sprintf("%-*s  %s", age, third, fourth), " ") + "\n")
	}
	row("NAME", "STATE", "", "AGE", "NODE")
	for _, l := range all {
		row(l.branches+l.name, l.state, colours[l.health], l.age, l.node)
	}
}

var colours = map[health]string{quiet: output.Faint, waits: output.Faint, runs: output.Busy, done: output.Good, bad: output.Bad}
