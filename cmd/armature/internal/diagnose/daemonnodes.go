package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
)

// daemonNodes: a DaemonJob has no node to run on, none that can take a pod now, or has paused after failures.
func daemonNodes(s subject) *Finding {
	ready := s.isFalse("Ready")
	if !s.is("DaemonJob") || ready == nil {
		return nil
	}
	switch ready.Reason {
	case v1alpha1.ReasonNoMatchingNodes:
		for _, field := range [][]string{{"spec", "globalParams", "nodeName"}, {"spec", "template", "spec", "nodeName"}} {
			if name := s.text(field...); name != "" && s.Nodes != nil && s.node(name) == nil {
				return noSuchNode(name, ", which "+strings.Join(field, ".")+" names")
			}
		}
		return blocked(ready.Reason, "%s", ready.Message).
			do("compare spec.template's nodeSelector and affinity and spec.excludeNodeList with kubectl get nodes --show-labels")
	case v1alpha1.ReasonNodesUnavailable:
		return blocked(ready.Reason, "%s", ready.Message).
			do("kubectl uncordon the nodes, or tolerate their taints in the template; it then continues automatically")
	case v1alpha1.ReasonPaused:
		return s.paused(ready.Message)
	default:
		return nil
	}
}

// paused returns the cause of a DaemonJob's pause, the finding about a failed node, and the two ways to continue.
func (s subject) paused(message string) *Finding {
	// The condition names the ways to continue as fields of the spec, between the progress and the failed nodes.
	progress, rest, _ := strings.Cut(message, daemonjob.ResumeAdvice)
	message = "it has paused: " + progress
	if _, failures, ok := strings.Cut(rest, ": "); ok {
		message += ": " + failures
	}
	if found := s.worst(s.Object); found != nil {
		message += "; " + found.Object.String() + ": " + found.Message
	}
	patch := `{"spec":{"failurePolicy":"Continue"}}`
	if s.has("spec", "maxFailures") {
		patch = `{"spec":{"failurePolicy":"Continue","maxFailures":null}}`
	}
	return blocked(v1alpha1.ReasonPaused, "%s", message).
		do("armature retry %s%s runs the failed nodes again and continues; "+
			"to continue without them: kubectl patch %[1]s%[2]s --type=merge -p '%[3]s'", typed(s.Object), s.flagN(), patch)
}

// noSuchNode returns the finding about a pod whose node doesn't exist.
func noSuchNode(name, whose string) *Finding {
	return blocked("NodeNotFound", "there is no node %s%s", name, whose).do("correct the node's name: kubectl get nodes")
}

// listed names a few of many.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// missing returns those of some nodes that don't exist.
func (f *Facts) missing(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return f.node(name) != nil })
}
