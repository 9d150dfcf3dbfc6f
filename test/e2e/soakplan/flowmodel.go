package soakplan

import (
	"slices"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// endOfFlow says how a flow ends that no one stops, from its spec after the user's last change.
func endOfFlow(spec *v1alpha1.JobFlowSpec) Expect {
	ends := map[string]PartEnd{}
	for attempt := range spec.Retry + 1 {
		runAttempt(spec, attempt, ends)
		if !anyFailed(ends) {
			break // a retry of what has succeeded has no effect
		}
	}
	expect := Expect{End: Succeeded, Parts: map[string]Ends{}}
	failed := anyFailed(ends)
	for name, end := range ends {
		expect.Parts[name] = Ends{end}
		if failed && spec.FailFast && end != PartSkipped && isCutOff(spec, name) {
			expect.Parts[name] = Ends{end, PartSkipped}
		}
		if end == PartFailed {
			expect.End, expect.Reason = Failed, v1alpha1.ReasonJobFailed
		}
	}
	return expect
}

// isCutOff tells whether a failFast elsewhere can keep a node from running: all but those in finally that don't ask.
func isCutOff(spec *v1alpha1.JobFlowSpec, name string) bool {
	return !slices.ContainsFunc(spec.Finally, func(n v1alpha1.Flow) bool { return n.Name == name && !strings.HasPrefix(n.When, "jobs.") })
}

func anyFailed(ends map[string]PartEnd) bool {
	for _, end := range ends {
		if end == PartFailed {
			return true
		}
	}
	return false
}

// runAttempt decides the nodes in the order of their dependencies. What has succeeded in an earlier attempt is done.
func runAttempt(spec *v1alpha1.JobFlowSpec, attempt int32, ends map[string]PartEnd) {
	decided := map[string]bool{}
	for len(decided) < len(spec.Flows) {
		for i := range spec.Flows {
			n := &spec.Flows[i]
			if decided[n.Name] || slices.ContainsFunc(n.Dependencies, func(d string) bool { return !decided[d] }) {
				continue
			}
			decided[n.Name] = true
			switch {
			case ends[n.Name] == PartSucceeded:
			case starts(n, ends):
				ends[n.Name] = run(n, attempt)
			default:
				ends[n.Name] = PartSkipped
			}
		}
	}
	state := "Succeed"
	for i := range spec.Flows {
		if ends[spec.Flows[i].Name] == PartFailed {
			state = "Failed"
		}
	}
	for i := range spec.Finally {
		n := &spec.Finally[i]
		ends[n.Name] = PartSkipped
		if n.When == "" || n.When == `state == "`+state+`"` || strings.HasPrefix(n.When, "jobs.") && ends["n0"] == PartSucceeded {
			ends[n.Name] = run(n, attempt)
		}
	}
}

// starts tells whether a node is started once its dependencies have ended, by the few expressions that the plan draws.
func starts(n *v1alpha1.Flow, ends map[string]PartEnd) bool {
	switch {
	case n.When == "":
		return !slices.ContainsFunc(n.Dependencies, func(d string) bool { return ends[d] != PartSucceeded })
	case n.When == "false":
		return false
	case strings.HasSuffix(n.When, ".skipped"):
		return ends[n.Dependencies[0]] != PartSucceeded
	case strings.HasPrefix(n.When, "!"):
		return ends[n.Dependencies[0]] != PartFailed
	default: // an output
		return ends[n.Dependencies[0]] == PartSucceeded
	}
}

// run says how a node's Jobs end.
func run(n *v1alpha1.Flow, attempt int32) PartEnd {
	if n.JobTemplateRef != "" {
		return PartSucceeded
	}
	switch of := temperOf(n); {
	case n.ForEach != nil && n.ForEach.FromOutput == "" && len(n.ForEach.Items) == 0:
		return PartSucceeded
	case of == doomed, of == late, of == mended && attempt == 0,
		of == items && slices.Contains(n.ForEach.Items, badItem):
		return PartFailed
	}
	return PartSucceeded
}

// endOfStoppedFlow says how an endless flow ends that is stopped at some time: what runs fails, what hasn't started is
// skipped, and finally is run.
func endOfStoppedFlow(spec *v1alpha1.JobFlowSpec) Expect {
	ends := map[string]PartEnd{}
	runAttempt(spec, 0, ends)
	expect := Expect{End: Failed, Parts: map[string]Ends{}}
	for i := range spec.Flows {
		name := spec.Flows[i].Name
		expect.Parts[name] = Ends{ends[name], PartFailed, PartSkipped}
	}
	expect.Parts["endless"] = Ends{PartFailed, PartSkipped}
	for i := range spec.Finally {
		n := &spec.Finally[i]
		expect.Parts[n.Name] = Ends{run(n, 0)}
		if strings.HasPrefix(n.When, "jobs.") {
			expect.Parts[n.Name] = Ends{run(n, 0), PartSkipped}
		}
	}
	return expect
}
