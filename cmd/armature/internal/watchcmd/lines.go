package watchcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// lines shows an object as a log: one line for each change.
type lines struct {
	out io.Writer

	printed map[string]string // the last text of each row
	state   string
	problem string
	told    map[string]bool // the rows whose last lines were shown
}

func (l *lines) show(p picture, logs tails) {
	if l.printed == nil {
		l.printed, l.told = map[string]string{}, map[string]bool{}
	}
	at := short(p.elapsed)
	for _, r := range p.rows {
		text := r.text()
		if text == l.printed[r.name] || (r.state == v1alpha1.FlowPending && l.printed[r.name] == "") {
			continue
		}
		l.printed[r.name] = text
		fmt.Fprintln(l.out, strings.TrimRight(fmt.Sprintf("%5s  %-20s %-8s%s", at, r.name, r.state, detail(r)), " "))
	}
	for _, r := range p.rows {
		if r.state != v1alpha1.FlowFailed {
			delete(l.told, r.name) // it may fail again
		} else if len(logs[r.name]) > 0 && !l.told[r.name] {
			l.told[r.name] = true
			fmt.Fprintf(l.out, "%5s  %-20s last said:\n", at, r.name)
			for _, text := range logs[r.name] {
				fmt.Fprintln(l.out, strings.TrimRight("       │ "+printable(text), " "))
			}
		}
	}
	if p.problem != l.problem {
		if l.problem = p.problem; p.problem != "" {
			fmt.Fprintf(l.out, "%5s  %s\n", at, p.problem)
		}
	}
	if p.state != l.state {
		l.state = p.state
		fmt.Fprintf(l.out, "%5s  %s %s is %s, %s\n", at, p.kind, p.name, p.state, p.tally)
	}
}

// text is the part of a row whose change prints a line.
func (r row) text() string {
	if r.counts {
		return string(r.state) + " " + r.message
	}
	return string(r.state)
}

// detail says more of a row that has just changed.
func detail(r row) string {
	if r.counts && r.message != "" {
		return " " + r.message
	}
	switch r.state {
	case v1alpha1.FlowRunning:
		switch r.after {
		case "":
		case afterAll:
			return " " + afterAll
		default:
			return " after " + r.after
		}
	case v1alpha1.FlowSucceed:
		if r.started {
			return " in " + short(r.took)
		}
	case v1alpha1.FlowFailed, v1alpha1.FlowSkipped:
		return " " + r.message
	}
	return ""
}
