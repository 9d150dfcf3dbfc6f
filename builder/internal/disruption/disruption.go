package disruption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/events"
)

// What [Of] says of a changed pod template, at its end, and of fewer replicas, at its beginning.
const (
	RestartsPods = "restarts pods"
	ScaledDown   = "scaled down"
)

// Of says what a change of an object of an API group disrupts, such as "restarts pods"; empty for nothing. The operation is a reason of
// package events. A change is disruptive if it deletes or recreates the object, changes the pod template of a workload of the group
// apps, or lowers a number of replicas.
func Of(group, operation string, fields []delta.Change) string {
	switch operation {
	case events.ReasonDeleted:
		return "deleted"
	case events.ReasonRecreating:
		return "deleted and recreated"
	case events.ReasonUpdated, events.ReasonAdopted:
	default:
		return ""
	}
	var all []string
	for _, f := range fields {
		if f.Path == "spec.replicas" && number(f.New) < number(f.Old) {
			all = append(all, ScaledDown+" from "+value(f.Old)+" to "+value(f.New))
		}
	}
	if group == "apps" && slices.ContainsFunc(fields, func(f delta.Change) bool { return IsOfPodTemplate(f.Path) }) {
		all = append(all, RestartsPods)
	}
	return strings.Join(all, ", ")
}

// IsOfPodTemplate reports whether a path is one of a workload's pod template.
func IsOfPodTemplate(path string) bool {
	return path == "spec.template" || strings.HasPrefix(path, "spec.template.") || strings.HasPrefix(path, "spec.template[")
}

// number is a number of replicas. Without one a workload has 1.
func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 1
}

func value(v any) string {
	if v == nil {
		return "(none)"
	}
	return fmt.Sprint(v)
}
