package uiserver

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/controlcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/internal/wellknown"
)

const (
	// maxMessage is the most bytes of a message in a list; the drawer has all of it.
	maxMessage = 300
	// maxWord is the most bytes of a state, a reason or the name of a queue.
	maxWord = 100
	// maxLabels is the most bytes of a row's labels; the drawer has all of them.
	maxLabels = 2 << 10
)

// row is what a list shows of an object.
type row struct {
	UID        types.UID `json:"uid"`
	Kind       string    `json:"kind"`
	APIVersion string    `json:"apiVersion"`
	Namespace  string    `json:"namespace,omitempty"`
	Name       string    `json:"name"`

	State   string `json:"state,omitempty"`
	Tone    tone   `json:"tone"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Done of Total parts have ended, Failed of these badly: nodes of a flow, nodes of the cluster, replicas, ready pods.
	Done   int64 `json:"done,omitempty"`
	Total  int64 `json:"total,omitempty"`
	Failed int64 `json:"failed,omitempty"`

	Created time.Time  `json:"created"`
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`

	Labels    map[string]string `json:"labels,omitempty"`
	Suspended bool              `json:"suspended,omitempty"`
	Paused    bool              `json:"paused,omitempty"`
	Deleting  bool              `json:"deleting,omitempty"`
	Queue     string            `json:"queue,omitempty"`
	Size      int64             `json:"size,omitempty"`
	// Actions are those that make sense in this state.
	Actions []string `json:"actions,omitempty"`
}

// tone is the state of an object, for colours.
type tone string

const (
	toneGood  tone = "good"
	toneBad   tone = "bad"
	toneRun   tone = "run"
	toneWait  tone = "wait"
	toneQuiet tone = "quiet"
)

// toneOf returns the tone of an object.
func toneOf(o *diagnose.Object) tone {
	switch {
	case diagnose.HasFailed(o):
		return toneBad
	case diagnose.HasSucceeded(o):
		return toneGood
	case diagnose.StateOf(o) == "":
		return toneQuiet
	case diagnose.IsUp(o):
		return toneRun
	default:
		return toneWait
	}
}

// rowOf reads an object of any kind.
func rowOf(u *unstructured.Unstructured) row {
	o := diagnose.NewObject(u, nil)
	r := row{
		UID: u.GetUID(), Kind: u.GetKind(), APIVersion: u.GetAPIVersion(), Namespace: u.GetNamespace(), Name: u.GetName(),
		State: shorten(stateOf(o), maxWord), Tone: toneOf(o), Created: u.GetCreationTimestamp().Time, Labels: firstLabels(u.GetLabels()),
		Started: timeAt(u, "status", "startTime"), Ended: timeAt(u, "status", "completionTime"),
		Paused: u.GetAnnotations()[wellknown.AnnotationPaused] == "true", Deleting: u.GetDeletionTimestamp() != nil,
		Queue: shorten(cmp.Or(text(u, "status", "queue"), text(u, "spec", "queue")), maxWord), Size: number(u, "spec", "size"),
		Actions: controlcmd.Offered(u),
	}
	r.Suspended = flag(u, "spec", "suspend") || flag(u, "spec", "runPolicy", "suspend")
	r.Reason, r.Message = reasonOf(u)
	r.count(u)
	if r.Kind == "FluxSetup" && r.Reason != "" { // Active, Stopped: it has no other state
		r.State = r.Reason
	}
	if r.Paused {
		r.State = "Paused"
	}
	return r
}

// firstLabels returns the first labels by name, up to maxLabels.
func firstLabels(all map[string]string) map[string]string {
	first, left := map[string]string{}, maxLabels
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if left -= len(name) + len(all[name]); left < 0 {
			break
		}
		first[name] = all[name]
	}
	return first
}

// stateOf is the object's own word for its state.
func stateOf(o *diagnose.Object) string {
	return cmp.Or(text(o.Unstructured, "status", "state"), text(o.Unstructured, "status", "phase"), diagnose.StateOf(o))
}

// reasonOf says why an object isn't ready yet, by its conditions: Stalled first, for that asks for someone's action.
func reasonOf(u *unstructured.Unstructured) (reason, message string) {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, kind := range []string{"Stalled", "Ready"} {
		for _, item := range conditions {
			c, ok := item.(map[string]any)
			if !ok || c["type"] != kind || kind == "Stalled" && c["status"] != "True" {
				continue
			}
			reason, _ = c["reason"].(string)
			message, _ = c["message"].(string)
			return shorten(reason, maxWord), shorten(message, maxMessage)
		}
	}
	return "", ""
}

// count fills in the progress, from the fields that the kinds have for it.
func (r *row) count(u *unstructured.Unstructured) {
	switch {
	case u.GroupVersionKind().Group == v1alpha1.GroupVersion.Group && r.Kind == "JobFlow":
		n := func(name string) int64 { return number(u, "status", "counts", name) }
		r.Done, r.Total, r.Failed = n("succeeded")+n("failed")+n("skipped"), n("total"), n("failed")
	case u.GroupVersionKind().Group == v1alpha1.GroupVersion.Group && r.Kind == "DaemonJob":
		n := func(name string) int64 { return number(u, "status", name) }
		r.Done, r.Total, r.Failed = n("succeeded")+n("failed")+n("skipped"), n("desired"), n("failed")
	case u.GroupVersionKind().Group == v1alpha1.GroupVersion.Group && r.Kind == "ReplicaJob":
		all, _, _ := unstructured.NestedMap(u.Object, "status", "replicaStatuses")
		for kind := range all {
			n := func(name string) int64 { return number(u, "status", "replicaStatuses", kind, name) }
			r.Done += n("succeeded") + n("failed")
			r.Failed += n("failed")
			r.Total += n("active") + n("pending") + n("succeeded") + n("failed")
		}
	}
	types, _, _ := unstructured.NestedSlice(u.Object, "status", "nodeTypes")
	for _, item := range types {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		t := &unstructured.Unstructured{Object: fields}
		r.Done += number(t, "ready")
		r.Total += number(t, "desired")
	}
}

func text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}

func number(u *unstructured.Unstructured, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(u.Object, path...)
	return n
}

func flag(u *unstructured.Unstructured, path ...string) bool {
	b, _, _ := unstructured.NestedBool(u.Object, path...)
	return b
}

// timeAt reads a time, nil if there is none.
func timeAt(u *unstructured.Unstructured, path ...string) *time.Time {
	t, err := time.Parse(time.RFC3339, text(u, path...))
	if err != nil {
		return nil
	}
	return &t
}

// shorten cuts a text to a number of bytes, between two letters.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.TrimSpace(s[:most]) + "…"
}

// sortRows sorts rows by name, so that what comes first is the same each time.
func sortRows(all []row) {
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
}
