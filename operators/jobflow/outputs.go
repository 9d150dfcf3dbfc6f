package jobflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// outputPatience is how long after a Job's end its pods are waited for, whose cache may be behind that of the Jobs.
const outputTimeout = time.Minute

// maxOutput is where the kubelet cuts a termination message. One that is as long can't be told from one that was cut.
const maxOutput = 4096

// readOutput puts on record what a Job that succeeded has put out. It returns false if that can't be known yet. An
// output that isn't found for long is lost.
func (p *pass) readOutput(i int, job *batchv1.Job, o outcome.Outcome) bool {
	name := p.Names[i]
	if p.isKnown(name) {
		return true
	}
	pod := firstSucceeded(p.pods[job.UID])
	if pod == nil {
		if o.Ended == nil {
			return true
		}
		left := o.Ended.Add(outputTimeout).Sub(p.view.Now)
		p.requeueIn(left)
		if left > 0 {
			return false
		}
		p.lost[name] = "its pods were deleted before it was read"
		return true
	}
	switch text := messageOf(pod); {
	case len(text) >= maxOutput:
		p.lost[name] = fmt.Sprintf("it has %d bytes or more, and Kubernetes keeps no more of it", maxOutput)
	case strings.ContainsRune(text, 0):
		p.lost[name] = "it has a NUL byte, which no environment variable can hold"
	default:
		p.outputs[name] = strings.ToValidUTF8(text, "\uFFFD")
	}
	return true
}

// isKnown reports whether there is an output on record, or why there is none.
func (p *pass) isKnown(name string) bool {
	_, known := p.outputs[name]
	return known || p.lost[name] != ""
}

// firstSucceeded returns the pod that stands for its Job: of those that succeeded the one with the lowest completion
// index, or else that was created first.
func firstSucceeded(pods []*corev1.Pod) *corev1.Pod {
	done := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return pod.Status.Phase != corev1.PodSucceeded })
	if len(done) == 0 {
		return nil
	}
	index := func(pod *corev1.Pod) int {
		return labelNumber(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 0)
	}
	return slices.MinFunc(done, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(index(a), index(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// messageOf returns the termination message of a pod's first container that has one.
func messageOf(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		for j := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[j]
			if s.Name == pod.Spec.Containers[i].Name && s.State.Terminated != nil && s.State.Terminated.Message != "" {
				return s.State.Terminated.Message
			}
		}
	}
	return ""
}

// readLateOutputs looks for outputs of nodes that had ended before someone needed them.
func (p *pass) readLateOutputs() {
	for i, puts := range p.HasReaders {
		if puts && p.States[i] == record.Succeeded && p.jobs[i] != nil {
			p.readOutput(i, p.jobs[i], outcome.Outcome{Phase: outcome.Succeeded})
		}
	}
}

// output returns the output of a node that has ended. It is empty if the node hasn't succeeded, or has forEach.
func (p *pass) output(i int) (string, error) {
	value, known := p.outputs[p.Names[i]]
	if why := p.lost[p.Names[i]]; why != "" && p.States[i] == record.Succeeded {
		return "", fmt.Errorf("the output of flow %q is lost: %s", p.Names[i], why)
	}
	if !known && p.States[i] == record.Succeeded && p.node(i).ForEach == nil {
		return "", fmt.Errorf("the output of flow %q is lost: its pods were deleted before it was read, or all needed outputs together exceed %d bytes",
			p.Names[i], limitsFor(p.Size()).outputs)
	}
	return value, nil
}

// dropOutputs forgets the outputs that no one needs any more, and new ones that there is no room for.
func (p *pass) dropOutputs() {
	needed := make([]bool, len(p.HasReaders))
	for _, u := range p.OutputUses {
		if p.States[u.Consumer] != record.Succeeded || !p.isFlow(int(u.Consumer)) { // finally runs again with each retry
			needed[u.Producer] = true
		}
	}
	left := limitsFor(p.Size()).outputs
	known := make(map[string]bool, len(p.flow.Status.Outputs))
	for _, o := range p.flow.Status.Outputs {
		if i, ok := p.Index[o.Name]; ok && needed[i] {
			known[o.Name] = true
			left -= sizeOf(o.Name, o.Value+o.Lost)
		}
	}
	for i, name := range p.Names {
		size := sizeOf(name, p.outputs[name]+p.lost[name])
		switch {
		case !p.isKnown(name) || known[name]:
		case needed[i] && size <= left:
			left -= size
		default:
			delete(p.outputs, name)
			delete(p.lost, name)
		}
	}
}

// sizeOf is how much room an output takes in a status, as JSON, or a little more.
func sizeOf(name, value string) int { return len(name) + message.JSONSize(value) + 30 }

// recordedOutputs returns the outputs as the status has them.
func (p *pass) recordedOutputs() []v1alpha1.FlowOutput {
	var outputs []v1alpha1.FlowOutput
	for i, puts := range p.HasReaders {
		if name := p.Names[i]; puts && p.isKnown(name) {
			outputs = append(outputs, v1alpha1.FlowOutput{Name: name, Value: p.outputs[name], Lost: p.lost[name]})
		}
	}
	return outputs
}
