package buildertest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// theManager is the name of the manager that runs the operators in stories.
const theManager = "manager"

// story returns a trace as a file of package story; empty for a scenario that isn't of one.
func (e *exploration) story(trace []string) (string, error) {
	if e.scenario.Setup == "" {
		return "", nil
	}
	var b strings.Builder
	b.WriteString(e.scenario.Setup)
	err := e.retrace(trace, func(before, _ *exploredState, step string) error {
		lines, err := e.lines(before, step)
		for _, line := range lines {
			if strings.HasSuffix(line, "\n") {
				b.WriteString(line) // with its input and output
			} else {
				b.WriteString(line + "\n----\n\n")
			}
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if e.scenario.RunStory == nil {
		return b.String(), nil
	}
	return e.scenario.RunStory(e.ctx, b.String())
}

// lines returns the lines of an outcome.
func (e *exploration) lines(s *exploredState, name string) ([]string, error) {
	switch {
	case strings.HasPrefix(name, clusterStep):
		_, took, err := e.stepCluster(s, name)
		var lines []string
		for _, single := range took {
			lines = append(lines, clusterStep+single)
		}
		return lines, err
	case strings.HasPrefix(name, editStep):
		return []string{e.scenario.ThenLines[s.edits]}, nil
	case name == timeStep || name == earlyStep:
		next, err := e.wait(s, name == earlyStep)
		if err != nil {
			return nil, err
		}
		return []string{"clock " + next.server.now.Sub(s.server.now).String()}, nil
	case strings.HasPrefix(name, crashStep):
		return []string{"crash", "step " + theManager + ": start"}, nil
	}
	var lines []string
	var err error
	e.eachPass(s, func(pass string, process, request int) {
		if rest, ok := strings.CutPrefix(name, pass); ok && (rest == "" || strings.HasPrefix(rest, ", ")) && lines == nil && err == nil {
			lines, err = e.passLines(s, rest, process, request)
		}
	})
	return lines, err
}

// passLines returns the lines of a pass, with its faults, which rest names.
func (e *exploration) passLines(s *exploredState, rest string, process, request int) ([]string, error) {
	p := e.processes[process]
	gvk, err := e.server.kinds.of(p.Owner)
	if err != nil {
		return nil, err
	}
	r := p.Requests[request]
	var before, after []string
	var read reads
	for _, stale := range e.staleReads(s, process) {
		if rest == ", "+stale.name || strings.HasPrefix(rest, ", "+stale.name+", ") {
			read = stale
			lag, of := e.lagOf(s, stale)
			before, after = append(before, fmt.Sprintf("lag changes=%d%s", lag, of)), append(after, "lag changes=0"+of)
		}
	}
	done, err := e.run(s, process, r, read)
	if err != nil {
		return nil, err
	}
	for k, w := range done.after {
		switch {
		case strings.Contains(rest, fmt.Sprintf(", crash after write %d: ", k+1)):
			before = append(before, fmt.Sprintf("crash after=%d", w.ordinal))
			after = append([]string{"step " + theManager + ": start"}, after...)
		case strings.Contains(rest, fmt.Sprintf(", the reply to write %d is lost: ", k+1)):
			line := fmt.Sprintf("refuse lost verb=%s kind=%s name=%s after=%d", w.call.Verb, w.call.Kind.Kind, w.call.Name, w.nth)
			if w.call.Subresource != "" {
				line += " subresource=" + w.call.Subresource
			}
			before = append(before, line)
		}
	}
	step := fmt.Sprintf("step %s: reconcile %s %s", theManager, gvk.gvk.Kind, r)
	return append(append(before, step), after...), nil
}

// lagOf returns by how many changes of the server a stale read lags, and the kind if it is of one.
func (e *exploration) lagOf(s *exploredState, r reads) (lag uint64, of string) {
	for gvk, at := range r.at {
		lag = max(lag, s.server.version-at)
		if strings.HasSuffix(r.name, " of "+gvk.Kind) {
			of = " kind=" + gvk.Kind
		}
	}
	return lag, of
}

// follow makes requests of new owners.
func (e *exploration) follow(gvk schema.GroupVersionKind, obj client.Object) {
	for i := range e.processes {
		p := &e.processes[i]
		if p.Owner == nil {
			continue
		}
		if k, err := e.server.kinds.of(p.Owner); err == nil && k.gvk == gvk {
			p.follow(obj)
		}
	}
}
