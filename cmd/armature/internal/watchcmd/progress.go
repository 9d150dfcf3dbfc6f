package watchcmd

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// barWidth is how wide a progress bar is at the most.
const barWidth = 40

// progressBar draws how much has succeeded, has failed, runs, and was skipped, of all: "████▓░░░░-  44%".
func (l layout) progressBar(n tally) string {
	total := max(1, n.total)
	width := max(5, min(barWidth, l.width-10))
	// Cells are cut from sums, so that they add up; each positive number has a cell, if the width allows.
	at := func(sum int) int { return min(sum, total) * width / total }
	done := at(n.done)
	bad := at(n.done+n.bad) - done
	if n.bad > 0 && bad == 0 {
		bad = 1
	}
	bad = min(bad, width-done)
	runs := min(max(at(n.done+n.bad+n.runs)-done-bad, min(n.runs, 1)), width-done-bad)
	skipped := max(0, min(at(n.done+n.bad+n.runs+n.skipped)-done-bad-runs, width-done-bad-runs))
	rest := width - done - bad - runs - skipped
	bar := l.paintAs(v1alpha1.FlowSucceed, strings.Repeat("█", done)) + l.paintAs(v1alpha1.FlowFailed, strings.Repeat("▓", bad)) +
		l.paintAs(v1alpha1.FlowRunning, strings.Repeat("▒", runs)) + l.faint(strings.Repeat("-", skipped)+strings.Repeat("░", rest))
	return fmt.Sprintf("%s %3d%%", bar, n.percent())
}

// paintAs colours a text as a state.
func (l layout) paintAs(s v1alpha1.FlowState, text string) string {
	if !l.color || text == "" {
		return text
	}
	return "\x1b[" + codeOf(string(s)) + "m" + text + "\x1b[0m"
}

// faint dims a text.
func (l layout) faint(text string) string {
	if !l.color || text == "" {
		return text
	}
	return "\x1b[2m" + text + "\x1b[0m"
}

// reserve is how many lines are kept for what failed nodes said last: a third of the room at the most.
func reserve(all []row, logs tails, room int) int {
	wanted := 0
	for _, r := range all {
		if r.state == v1alpha1.FlowFailed {
			wanted += len(logs[r.name])
		}
	}
	return max(0, min(wanted, room/3))
}

// lastOf returns the last lines, at most n of them.
func lastOf(lines []string, n int) []string {
	return lines[max(0, len(lines)-max(0, n)):]
}

// printable takes what would move the cursor out of a line that a program printed: tabs become blanks, colours go.
func printable(text string) string {
	var b strings.Builder
	escaped := false
	for _, r := range text {
		switch {
		case r == '\x1b':
			escaped = true
		case escaped:
			escaped = !unicode.IsLetter(r)
		case r == '\t':
			b.WriteString("    ")
		case unicode.IsPrint(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
