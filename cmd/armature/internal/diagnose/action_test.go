package diagnose

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

// notOfReady are the reasons of "Action required" that rules read from other places than the condition Ready.
var notOfReady = map[string]string{
	"Contested": "a condition", "UndoFailed": "the condition Undone", "PausedByAnnotation": "the annotation", "Suspended": "the spec",
	"ChangeIgnored": "an event", "QueueNotFound": "JobWaitingForResources", "QueueInvalid": "JobWaitingForResources",
	"QueueManagedElsewhere": "JobWaitingForResources", "NamespaceNotAllowed": "JobWaitingForResources",
	"ExceedsMaximumQuota": "JobWaitingForResources",
}

// withReady returns an object whose condition Ready is False, of the kind that a row of the documentation names first.
func withReady(kinds, reason string) *Object {
	meta := metav1.ObjectMeta{Name: "x", Generation: 1}
	conditions := []metav1.Condition{{Type: "Ready", Status: "False", Reason: reason, Message: "what it is about"}}
	switch first, _, _ := strings.Cut(kinds, ","); first {
	case "DaemonJob":
		return made(&v1alpha1.DaemonJob{ObjectMeta: meta, Status: v1alpha1.DaemonJobStatus{ObservedGeneration: 1, Conditions: conditions}}, nil)
	case "ReplicaJob":
		return made(&v1alpha1.ReplicaJob{ObjectMeta: meta, Status: v1alpha1.ReplicaJobStatus{ObservedGeneration: 1, Conditions: conditions}}, nil)
	case "FluxJob":
		return made(&v1alpha1.FluxJob{ObjectMeta: meta, Status: v1alpha1.FluxJobStatus{ObservedGeneration: 1, Conditions: conditions}}, nil)
	case "DSOI scaling":
		return ofAnyKind(reason, map[string]any{"nodes": []any{map[string]any{"name": "server", "reason": reason}}})
	case "DSOI clusters":
		return ofAnyKind(reason, map[string]any{"nodeTypes": []any{map[string]any{"name": "server", "state": "Failed"}}})
	default:
		return makeFlow(func(f *v1alpha1.JobFlow) { f.Status.Conditions = conditions })
	}
}

// ofAnyKind returns an object of a kind that this program doesn't know, whose condition Ready is False.
func ofAnyKind(reason string, status map[string]any) *Object {
	status["conditions"] = []any{map[string]any{"type": "Ready", "status": "False", "reason": reason, "message": "what it is about"}}
	return NewObject(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "x", "generation": int64(1)}, "status": status,
	}}, nil)
}

// TestActionRequired holds the rules to the documentation: a reason for which it requires action is a problem.
func TestActionRequired(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/troubleshooting.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "\n## Action required\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\|").FindAllStringSubmatch(table, -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		reason, kinds := row[1], row[2]
		if notOfReady[reason] != "" {
			continue
		}
		found := Diagnose(Facts{Now: now, Root: withReady(kinds, reason)})
		assert.True(t, found.Wrong(), "%s: %s", reason, found.Message)
		assert.NotEmpty(t, found.Next, reason)
	}
}

// TestReasonsOfOtherProjects holds that a word that other operators use, too, has our meaning and our advice at our own kinds only.
func TestReasonsOfOtherProjects(t *testing.T) {
	for _, reason := range []string{"Conflict", "TargetNotFound", "SourceFailed", "CannotGrow", "AtMax", "NodeTypeFailed", "EditRefused", "MiniClusterBlocked"} {
		for name, status := range map[string]map[string]any{
			"without nodes": {}, "with other nodes": {"nodes": []any{"a", map[string]any{"name": "b"}}}, "with one number of them": {"nodes": int64(3)},
		} {
			found := Diagnose(Facts{Now: now, Root: ofAnyKind(reason, status)})
			assert.False(t, found.Wrong(), "%s, %s: %s", reason, name, found.Message)
		}
	}
	found := Diagnose(Facts{Now: now, Root: ofAnyKind("InvalidPlan", map[string]any{})})
	assert.Equal(t, "InvalidPlan", found.Reason, "the builder reports it for each kind of its authors")
}

// A manager postpones a quarantined object, so that its status may be of no spec at all.
func TestAQuarantinedObjectHasAManager(t *testing.T) {
	flow := makeFlow(func(f *v1alpha1.JobFlow) {
		f.Status = v1alpha1.JobFlowStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Quarantined", Message: "2 unexpected ends"}}}
	})
	found := Diagnose(Facts{Now: now, Root: flow})
	assert.Equal(t, "Quarantined", found.Reason)
	assert.Contains(t, found.Message, "2 unexpected ends")
	gone := leader.Manager{Namespace: "ops", Lease: "armature", Renewed: now.Add(-3600e9), Scope: leader.Scope{Operators: []string{"jobflow"}}}
	found = Diagnose(Facts{Now: now, Root: flow, Managers: []leader.Manager{gone}})
	assert.Equal(t, "NoManager", found.Reason, "none is left that would try it again")
}
