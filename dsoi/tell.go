package dsoi

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
)

// Reasons of events and conditions, beside those of the builder.
const (
	// ReasonInvalidSpec: the spec is invalid, and nothing is changed until it is fixed.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNodeTypeUpgrading: the nodes of a type are being changed.
	ReasonNodeTypeUpgrading = "NodeTypeUpgrading"
	// ReasonNodeTypeReady: all nodes of a type are as described, and ready.
	ReasonNodeTypeReady = "NodeTypeReady"
	// ReasonNodeTypeFailed: a pod of a node type can't start, or keeps crashing.
	ReasonNodeTypeFailed = "NodeTypeFailed"
)

// transitions tells what is new in a status.
func transitions(before, after *v1beta1.ClusterStatus, why map[string]string) []events.Event {
	was := map[string]v1beta1.NodeTypeStatus{}
	for _, t := range before.NodeTypes {
		was[t.Name] = t
	}
	var told []events.Event
	for _, t := range after.NodeTypes {
		old := was[t.Name]
		switch {
		case t.State == v1beta1.NodeTypeFailed && old.State != t.State:
			told = append(told, events.Warning(ReasonNodeTypeFailed, fmt.Sprintf("node type %s: %s", t.Name, why[t.Name])))
		case t.State == v1beta1.NodeTypeReady && old.State != t.State:
			told = append(told, events.Normal(ReasonNodeTypeReady, fmt.Sprintf("node type %s: %d of %d pods are ready", t.Name, t.Ready, t.Desired)))
		case old.Revision != "" && t.Revision != "" && t.Revision != old.Revision: // it is empty while a workload is missing
			told = append(told, events.Normal(ReasonNodeTypeUpgrading,
				fmt.Sprintf("node type %s: revision %s after %s", t.Name, t.Revision, old.Revision)))
		}
	}
	return told
}

// invalid is the plan of a cluster whose spec can't be carried out: nothing is changed.
func invalid[C Cluster](cluster C, problems []string, view builder.View) builder.Plan[C] {
	status := cluster.ClusterStatus().DeepCopy()
	status.ObservedGeneration, status.Phase = cluster.GetGeneration(), v1beta1.ClusterInvalid
	message := summary(problems)
	isNew := false
	for _, c := range []metav1.Condition{
		{Type: events.ConditionReady, Status: metav1.ConditionFalse},
		{Type: events.ConditionProgressing, Status: metav1.ConditionFalse},
		{Type: events.ConditionStalled, Status: metav1.ConditionTrue},
	} {
		c.Reason, c.Message, c.ObservedGeneration = ReasonInvalidSpec, message, cluster.GetGeneration()
		c.LastTransitionTime = metav1.NewTime(view.Now)
		old := meta.FindStatusCondition(status.Conditions, c.Type)
		isNew = isNew || old == nil || old.Reason != c.Reason || old.Message != c.Message
		meta.SetStatusCondition(&status.Conditions, c)
	}
	if equality.Semantic.DeepEqual(cluster.ClusterStatus(), status) {
		return builder.Plan[C]{}
	}
	plan := builder.Plan[C]{Status: withStatus(cluster, status)}
	if isNew {
		plan.Events = []events.Event{events.Warning(ReasonInvalidSpec, message)}
	}
	return plan
}

// summary puts mistakes into one message of bounded length.
func summary(problems []string) string {
	const shown, longest = 5, 300
	var all strings.Builder
	for i, p := range problems[:min(shown, len(problems))] {
		if i > 0 {
			all.WriteString("; ")
		}
		all.WriteString(text.Shorten(p, longest))
	}
	if more := len(problems) - shown; more > 0 {
		fmt.Fprintf(&all, "; and %d more", more)
	}
	return all.String()
}

// terminating is the plan of a cluster that is being deleted: its objects go with it, but for data that is retained.
func terminating[C Cluster](cluster C) builder.Plan[C] {
	status := cluster.ClusterStatus().DeepCopy()
	status.Phase = v1beta1.ClusterTerminating
	if equality.Semantic.DeepEqual(cluster.ClusterStatus(), status) {
		return builder.Plan[C]{}
	}
	return builder.Plan[C]{Status: withStatus(cluster, status)}
}
