package watchcmd

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// layout is the size of a table.
type layout struct {
	width, height int
	color         bool
}

// table draws an object: a headline, how far it is, then a row for each of its parts, with a bar that shows when it ran. Below
// those that failed is what they said last.
func table(p picture, logs tails, l layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s  %s  %s  %s\n", p.kind, p.name, l.paint(p.state), p.tally, short(p.elapsed))
	b.WriteString("  " + l.progressBar(p.tally) + "\n")
	if p.problem != "" {
		b.WriteString(cut("  "+p.problem, l.width) + "\n")
	}
	all := p.rows
	c := l.columns(p)
	fmt.Fprintf(&b, "  %-*s  %-*s  %-*s  %6s  %6s\n", c.name, p.heads[0], c.after, p.heads[1], c.state, "STATE", "START", "TIME")
	room := l.height - 1 - strings.Count(b.String(), "\n")
	spare := reserve(all, logs, room)
	shown, hidden := fit(all, room-spare)
	spare = max(spare, room-len(shown))
	for _, r := range shown {
		start, took := "", ""
		if r.started {
			start, took = "+"+short(r.start), short(r.took)
		}
		line := fmt.Sprintf("%s %-*s  %-*s  %s  %6s  %6s  %s", symbol(r.state), c.name, cut(r.name, c.name),
			c.after, cut(r.after, c.after), l.paint(fmt.Sprintf("%-*s", c.state, r.state)), start, took, remark(r, p.elapsed, c.remark))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if r.state == v1alpha1.FlowFailed {
			for _, text := range lastOf(logs[r.name], spare) {
				b.WriteString(l.faint(cut("  │ "+printable(text), l.width)) + "\n")
				spare--
			}
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "  ... and %d more\n", hidden)
	}
	return b.String()
}

// columns are the widths of a table's columns that vary.
type columns struct{ name, after, state, remark int }

// columns gives names the room they need as far as there is any, and remarks what is left.
func (l layout) columns(p picture) columns {
	const fixed = len("s ") + len("  ") + len("  ") + len("  +12m34s") + len(" 12m34s") + len("  ")
	c := columns{name: len(p.heads[0]), after: len(p.heads[1]), state: len("Running")}
	for _, r := range p.rows {
		c.name, c.after, c.state = max(c.name, len(r.name)), max(c.after, len(r.after)), max(c.state, len(r.state))
	}
	room := max(l.width-fixed-c.state, 12)
	c.name = min(c.name, 30, room*3/5)
	c.after = min(c.after, 24, room-c.name)
	c.remark = max(0, room-c.name-c.after)
	return c
}

// remark is what stands behind a row: what went wrong, or when it ran.
func remark(r row, total time.Duration, width int) string {
	switch {
	case r.message != "":
		return cut(r.message, width)
	case r.started && width >= 10:
		return bar(r, total, min(width, 40))
	default:
		return ""
	}
}

// fit leaves out rows when there are more than lines: pending ones first, then those that are done.
func fit(all []row, room int) (shown []row, hidden int) {
	if len(all) <= room {
		return all, 0
	}
	keep := make([]bool, len(all))
	left := max(1, room)
	for _, wanted := range []func(v1alpha1.FlowState) bool{
		func(s v1alpha1.FlowState) bool { return s == v1alpha1.FlowRunning || s == v1alpha1.FlowFailed },
		func(s v1alpha1.FlowState) bool { return s == v1alpha1.FlowSucceed || s == v1alpha1.FlowSkipped },
		func(s v1alpha1.FlowState) bool { return true },
	} {
		for i := range all {
			if left > 0 && !keep[i] && wanted(all[i].state) {
				keep[i], left = true, left-1
			}
		}
	}
	for i, r := range all {
		if keep[i] {
			shown = append(shown, r)
		}
	}
	return shown, len(all) - len(shown)
}

// bar draws when a row ran, on the scale of the whole object.
func bar(r row, total time.Duration, width int) string {
	scale := max(total, time.Second)
	from := int(int64(width) * int64(r.start) / int64(scale))
	length := int(int64(width) * int64(r.took) / int64(scale))
	from = min(from, width-1)
	length = max(1, min(length, width-from))
	return strings.Repeat(" ", from) + strings.Repeat("━", length)
}

func symbol(s v1alpha1.FlowState) string {
	switch s {
	case v1alpha1.FlowRunning:
		return "●"
	case v1alpha1.FlowSucceed:
		return "✔"
	case v1alpha1.FlowFailed:
		return "✘"
	case v1alpha1.FlowSkipped:
		return "-"
	default:
		return "○"
	}
}

// paint colours a state.
func (l layout) paint(text string) string {
	if !l.color {
		return text
	}
	return "\x1b[" + codeOf(strings.TrimSpace(text)) + "m" + text + "\x1b[0m"
}

// codeOf is the colour of a state.
func codeOf(state string) string {
	switch state {
	case string(v1alpha1.FlowRunning):
		return "36"
	case string(v1alpha1.FlowSucceed), string(v1alpha1.ReplicaJobSucceeded):
		return "32"
	case string(v1alpha1.FlowFailed):
		return "31"
	default:
		return "2"
	}
}

// cut shortens a text to a width.
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string([]rune(s)[:width-1]) + "…"
}
