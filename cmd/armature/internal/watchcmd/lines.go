package watchcmd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// lines shows a flow as a log: one line for each change.
type lines struct {
	out io.Writer

	states  map[string]v1alpha1.FlowState
	state   v1alpha1.State
	problem string
	told    map[string]bool // the nodes whose last lines were shown
}

func (l *lines) show(flow *v1alpha1.JobFlow, logs tails, now time.Time) {
	if l.states == nil {
		l.states, l.told = map[string]v1alpha1.FlowState{}, map[string]bool{}
	}
	all := rows(flow, now)
	at := short(elapsed(flow, now))
	for _, r := range all {
		if r.state == l.states[r.name] || (r.state == v1alpha1.FlowPending && l.states[r.name] == "") {
			continue
		}
		l.states[r.name] = r.state
		fmt.Fprintln(l.out, strings.TrimRight(fmt.Sprintf("%5s  %-20s %-8s%s", at, r.name, r.state, detail(r)), " "))
	}
	for _, r := range all {
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
	if p := problem(flow); p != l.problem {
		if l.problem = p; p != "" {
			fmt.Fprintf(l.out, "%5s  %s\n", at, p)
		}
	}
	if s := state(flow); s != l.state {
		l.state = s
		fmt.Fprintf(l.out, "%5s  jobflow %s is %s, %s\n", at, flow.Name, s, progress(all))
	}
}

// detail says more of a row that has just changed.
func detail(r row) string {
	switch r.state {
	case v1alpha1.FlowRunning:
		if r.after != "" {
			return " after " + r.after
		}
	case v1alpha1.FlowSucceed:
		return " in " + short(r.took)
	case v1alpha1.FlowFailed, v1alpha1.FlowSkipped:
		return " " + r.message
	}
	return ""
}
