package buildertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// facts are what an exploration knows about its scenario. The orders that it leaves out, and the names of steps, depend on them.
type facts struct {
	kinds     []string // that operators and invariants read or write
	contended []string // namespaces in which a quota may refuse a pod
}

// The headers of counterexamples that need facts which their replay wouldn't know from its run without faults.
const (
	kindsHeader     = "given that operators also read "
	contendedHeader = "given that pods compete for the quotas of "
)

// known is the number of known facts. They are never forgotten.
func (e *exploration) known() int { return len(e.seen) + len(e.contended) }

// facts returns the known facts.
func (e *exploration) facts() facts {
	f := facts{contended: slices.Sorted(maps.Keys(e.contended))}
	for kind := range e.seen {
		f.kinds = append(f.kinds, kind.String())
	}
	slices.Sort(f.kinds)
	return f
}

// without returns the facts that others lack.
func (f facts) without(others facts) facts {
	f.kinds = slices.DeleteFunc(slices.Clone(f.kinds), func(k string) bool { return slices.Contains(others.kinds, k) })
	f.contended = slices.DeleteFunc(slices.Clone(f.contended), func(n string) bool { return slices.Contains(others.contended, n) })
	return f
}

// String returns the headers of the facts, a line each.
func (f facts) String() string {
	var b strings.Builder
	if len(f.kinds) > 0 {
		fmt.Fprintf(&b, "%s%s:\n", kindsHeader, strings.Join(f.kinds, ", "))
	}
	if len(f.contended) > 0 {
		fmt.Fprintf(&b, "%s%s:\n", contendedHeader, strings.Join(f.contended, ", "))
	}
	return b.String()
}

// parse adds the facts of a line of a story, if it is a header of them.
func (f *facts) parse(line string) bool {
	if names, ok := strings.CutPrefix(line, kindsHeader); ok {
		f.kinds = append(f.kinds, strings.Split(strings.TrimSuffix(names, ":"), ", ")...)
		return true
	}
	if names, ok := strings.CutPrefix(line, contendedHeader); ok {
		f.contended = append(f.contended, strings.Split(strings.TrimSuffix(names, ":"), ", ")...)
		return true
	}
	return false
}

// tell makes facts known. It returns an error if the scenario has no such kind.
func (e *exploration) tell(f facts) error {
	for _, name := range f.kinds {
		kind := schema.ParseGroupKind(name)
		if !e.server.kinds.has(kind) {
			const accepted = "it must be a kind of the scenario, such as Pod or Job.batch"
			return fmt.Errorf("a line of the story says that operators also read %q; %s", name, accepted)
		}
		e.seen[kind] = true
	}
	for _, namespace := range f.contended {
		e.contended[namespace] = true
	}
	clear(e.worlds) // they depend on the facts
	return nil
}
