package outputs

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// Timeout is how long after a Job's end its output waits for the Job's pods to reach the cache, whose watch is another one.
const Timeout = time.Minute

// maxLength is the length at which the kubelet cuts a termination message. One of that length may have been cut.
const maxLength = 4096

// Set has the outputs that are known, or known to be lost, by node.
type Set map[string]v1alpha1.FlowOutput

// Of returns the outputs that a status records.
func Of(recorded []v1alpha1.FlowOutput) Set {
	s := make(Set, len(recorded))
	for _, o := range recorded {
		s[o.Name] = o
	}
	return s
}

// Observe adds the output of a node whose Job has succeeded, from the Job's pods. It returns how long the output may still come; 0 if it is
// known or lost. ended is when the Job ended; nil if it ended so long ago that nothing is waited for.
func (s Set) Observe(node string, ended *metav1.Time, pods []*corev1.Pod, now time.Time) (wait time.Duration) {
	if _, known := s[node]; known {
		return 0
	}
	pod := outcome.FirstSucceeded(pods)
	if pod == nil {
		if ended == nil {
			return 0
		}
		if wait = ended.Add(Timeout).Sub(now); wait > 0 {
			return wait
		}
		s[node] = v1alpha1.FlowOutput{Name: node, Lost: "its pods were deleted before it was read"}
		return 0
	}
	o := v1alpha1.FlowOutput{Name: node}
	switch text := outcome.TerminationMessage(pod); {
	case len(text) >= maxLength:
		o.Lost = fmt.Sprintf("it has %d bytes or more, and Kubernetes keeps no more of it", maxLength)
	case strings.ContainsRune(text, 0):
		o.Lost = "it has a NUL byte, which no environment variable can hold"
	default:
		o.Value = strings.ToValidUTF8(text, "\uFFFD")
	}
	s[node] = o
	return 0
}

// Value returns the output of a node that has succeeded, or an error that says why it is lost. limit is that of [Set.Record].
func (s Set) Value(node string, limit int) (string, error) {
	o, known := s[node]
	why := o.Lost
	if !known {
		why = fmt.Sprintf("its pods were deleted before it was read, or all needed outputs together exceed %d bytes", limit)
	}
	if why != "" {
		return "", fmt.Errorf("the output of flow %q is lost: %s", node, why)
	}
	return o.Value, nil
}

// Record returns the outputs of the needed nodes, in their order: those that are recorded, and of the others as many as fit into a limit in
// bytes of JSON with them.
func (s Set) Record(needed []string, recorded []v1alpha1.FlowOutput, limit int) []v1alpha1.FlowOutput {
	kept := Of(recorded)
	for _, node := range needed {
		if o, ok := kept[node]; ok {
			limit -= sizeOf(o)
		}
	}
	var all []v1alpha1.FlowOutput
	for _, node := range needed {
		o, known := s[node]
		if !known {
			continue
		}
		if _, ok := kept[node]; !ok {
			if sizeOf(o) > limit {
				continue
			}
			limit -= sizeOf(o)
		}
		all = append(all, o)
	}
	return all
}

// sizeOf returns the size of an output in a status, in bytes of JSON, or a little more.
func sizeOf(o v1alpha1.FlowOutput) int { return len(o.Name) + message.JSONSize(o.Value+o.Lost) + 30 }
