package diagnose

import (
	"fmt"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// daemonNodes: a DaemonJob has no node to run on, none that can take a pod now, or has paused after failures.
func daemonNodes(s scene) *Finding {
	ready := s.isFalse("Ready")
	if !s.is("DaemonJob") || ready == nil {
		return nil
	}
	switch ready.Reason {
	case v1alpha1.ReasonNoMatchingNodes:
		return blocked(ready.Reason, "%s", ready.Message).
			do("compare spec.template's nodeSelector and affinity and spec.excludeNodeList with kubectl get nodes --show-labels")
	case v1alpha1.ReasonNodesUnavailable:
		message := ready.Message
		if words := s.unavailable(); words != "" {
			message += ": " + words
		}
		return blocked(ready.Reason, "%s", message).do("kubectl uncordon the nodes, or tolerate their taints in the template; it goes on by itself then")
	default:
		return nil
	}
}

// unavailable names the nodes that are cordoned or not ready.
func (f *Facts) unavailable() string {
	var cordoned, unready []string
	for i := range f.Nodes {
		switch n := &f.Nodes[i]; {
		case n.Spec.Unschedulable:
			cordoned = append(cordoned, n.Name)
		case !isNodeReady(n):
			unready = append(unready, n.Name)
		}
	}
	var parts []string
	if len(cordoned) > 0 {
		parts = append(parts, fmt.Sprintf("cordoned: %s", listed(cordoned)))
	}
	if len(unready) > 0 {
		parts = append(parts, fmt.Sprintf("not ready: %s", listed(unready)))
	}
	return strings.Join(parts, "; ")
}

// listed names a few of many.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
