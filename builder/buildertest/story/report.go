package story

import (
	"context"
	"fmt"
	"strings"

	"github.com/armature-dev/armature/builder/buildertest"
)

// report returns what the managers did since the last report: their writes, their events, and the errors of their passes. With several
// managers each line names one.
func (s *Story) report() string {
	var lines []string
	for _, m := range s.world.Managers() {
		prefix := ""
		if len(s.world.Managers()) > 1 {
			prefix = m.Name() + ": "
		}
		for _, line := range append(writeLines(m.TakeWrites()), eventLines(m.TakeEvents())...) {
			lines = append(lines, prefix+line)
		}
		for _, err := range m.TakeErrors() {
			lines = append(lines, prefix+"error: "+strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
	return strings.Join(lines, "\n")
}

// writes is the command writes: the managers' writes and events since the last report, without anything happening.
func writes(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, 0); err != nil {
		return "", err
	}
	return s.report(), nil
}

// writeLines returns a line for each run of writes of one verb and kind: "create Job demo-n1, demo-n2".
func writeLines(calls []buildertest.Call) []string {
	var lines []string
	last, lastName, times := "", "", 1
	for _, c := range calls {
		what := string(c.Verb) + " " + c.Kind.Kind
		if c.Subresource != "" {
			what += "/" + c.Subresource
		}
		name := c.Name
		if c.Namespace != "" && c.Namespace != Namespace {
			name = c.Namespace + "/" + name
		}
		if c.Err != nil {
			lines = append(lines, fmt.Sprintf("%s %s: %v", what, name, c.Err))
			last = ""
			continue
		}
		switch {
		case what == last && name == lastName:
			times++
			at := len(lines) - 1
			lines[at] = fmt.Sprintf("%s (%d times)", strings.TrimSuffix(lines[at], fmt.Sprintf(" (%d times)", times-1)), times)
			continue
		case what == last:
			lines[len(lines)-1] += ", " + name
		default:
			lines = append(lines, what+" "+name)
		}
		last, lastName, times = what, name, 1
	}
	return lines
}

// eventLines returns a line for each event: "Normal Started: started for 4 nodes".
func eventLines(all []buildertest.RecordedEvent) []string {
	var lines []string
	for _, e := range all {
		line := fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Note)
		if e.Related != "" {
			line += fmt.Sprintf(" (%s)", e.Related)
		}
		lines = append(lines, line)
	}
	return lines
}

// events is the command events: it drops the writes since the last report, and shows the events alone.
func events(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, 0); err != nil {
		return "", err
	}
	var lines []string
	for _, m := range s.world.Managers() {
		m.TakeWrites()
		lines = append(lines, eventLines(m.TakeEvents())...)
	}
	return strings.Join(lines, "\n"), nil
}
