package explaincmd

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
	"github.com/armature-dev/armature/operators/jobflow"
)

// diagnosed returns the finding about the requested object, or about one node of it.
func diagnosed(facts diagnose.Facts, node string) (diagnose.Finding, error) {
	if node == "" {
		return diagnose.Diagnose(facts), nil
	}
	flow := &v1alpha1.JobFlow{}
	if facts.Root.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("JobFlow") {
		return diagnose.Finding{}, fmt.Errorf("%s has no nodes; only a JobFlow has", facts.Root.Ref())
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(facts.Root.Object, flow); err != nil {
		return diagnose.Finding{}, err
	}
	var names []string
	for _, s := range flowstate.Of(flow) {
		if s.Name == node {
			return ofNode(facts, flow, s), nil
		}
		names = append(names, s.Name)
	}
	return diagnose.Finding{}, fmt.Errorf("%s has no node %q%s; it has %s",
		facts.Root.Ref(), node, connect.DidYouMean(node, "", names), connect.Some(names))
}

// ofNode returns the finding about a node of a flow: that of one of its Jobs, or why it has no Job.
func ofNode(facts diagnose.Facts, flow *v1alpha1.JobFlow, node v1alpha1.FlowStatus) diagnose.Finding {
	root := facts.Root
	if flow.Spec.Suspend {
		alone := facts
		alone.Root = diagnose.NewObject(root.Unstructured, root.Events)
		if found := diagnose.Diagnose(alone); found.Reason == "Suspended" && !hasEnded(node.State) {
			return found // only the flow can resume its Job
		}
	}
	var best *diagnose.Finding
	for _, job := range root.Owned {
		if job.GetLabels()[jobflow.LabelFlow] != jobflow.PodLabels(flow, node.Name)[jobflow.LabelFlow] {
			continue
		}
		if diagnose.IsSuperseded(job, root.Owned) {
			continue
		}
		facts.Root = job
		found := diagnose.Diagnose(facts)
		if best == nil || !best.Wrong() || found.Wrong() && found.Phase == diagnose.Failed && best.Phase != diagnose.Failed {
			best = &found
		}
	}
	if best != nil {
		return *best
	}
	facts.Root = diagnose.NewObject(root.Unstructured, root.Events) // without the Jobs of other nodes, which don't affect this one
	if found := diagnose.Diagnose(facts); found.Wrong() && node.State == v1alpha1.FlowPending {
		return found
	}
	return withoutJob(root.Ref(), diagnose.StateOf(root), flow, node)
}

func hasEnded(state v1alpha1.FlowState) bool {
	return state == v1alpha1.FlowSucceed || state == v1alpha1.FlowFailed || state == v1alpha1.FlowSkipped
}

// withoutJob returns why a node has no Job: it was skipped, it has ended and its Job no longer exists, or it hasn't started.
func withoutJob(ref diagnose.Ref, state string, flow *v1alpha1.JobFlow, node v1alpha1.FlowStatus) diagnose.Finding {
	found := diagnose.Finding{Object: ref, Path: []diagnose.Step{{Ref: ref, State: state}}}
	about := fmt.Sprintf("node %q ", node.Name)
	switch node.State {
	case v1alpha1.FlowSucceed:
		found.Phase, found.Message = diagnose.Succeeded, about+"has succeeded, and its Job no longer exists"
	case v1alpha1.FlowFailed:
		found.Phase, found.Reason, found.Message = diagnose.Failed, "NodeFailed", about+"failed, and its Job no longer exists: "+node.Message
	case v1alpha1.FlowSkipped:
		found.Phase, found.Reason, found.Message = diagnose.Blocked, "Skipped", about+"was skipped: "+node.Message
		if flow.Status.State == v1alpha1.StateFailed {
			found.Phase = diagnose.Failed
		}
		if strings.HasSuffix(node.Message, "when is false") || strings.HasSuffix(node.Message, " is skipped") {
			found.Phase = diagnose.Succeeded // the flow skips it by design
		} else {
			found.Next = fmt.Sprintf("find the cause: armature explain jobflow/%s -n %s", ref.Name, ref.Namespace)
		}
	case v1alpha1.FlowState(v1alpha1.StateSuspended):
		found.Phase, found.Reason, found.Message = diagnose.Blocked, "Suspended", about+"is suspended, and its Job no longer exists"
		found.Next = fmt.Sprintf("check which field suspends it: kubectl get jobflow/%s -n %s -o yaml", ref.Name, ref.Namespace)
	default:
		found.Phase, found.Message = diagnose.Starting, about+"hasn't started"+waitsFor(flow, node.Name)
	}
	return found
}

// waitsForSlot names the nodes that occupy the flow's parallelism.
func waitsForSlot(flow *v1alpha1.JobFlow) string {
	most := flow.Spec.Parallelism
	if most == nil || flow.Status.Counts.Running == 0 {
		return ""
	}
	text := fmt.Sprintf(": spec.parallelism is %d, so it waits until another node has ended", *most)
	if flow.Status.Current != "" {
		text += ": " + flow.Status.Current
	}
	return text
}

// waitsFor names the dependencies or the slot that a node waits for.
func waitsFor(flow *v1alpha1.JobFlow, node string) string {
	states := map[string]v1alpha1.FlowState{}
	for _, s := range flowstate.Of(flow) {
		states[s.Name] = s.State
	}
	for i := range flow.Spec.Flows {
		if flow.Spec.Flows[i].Name != node {
			continue
		}
		var open []string
		for _, name := range flow.Spec.Flows[i].Dependencies {
			if s := states[name]; s == v1alpha1.FlowPending || s == v1alpha1.FlowRunning || s == v1alpha1.FlowSuspended {
				open = append(open, fmt.Sprintf("%s (%s)", name, s))
			}
		}
		if len(open) > 0 {
			return ": it waits for " + strings.Join(open, ", ")
		}
		return waitsForSlot(flow)
	}
	return ": nodes of finally run when all others have ended"
}
