package jobflow

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// outputTimeout is how long after a Job's end its output waits for the Job's pods to reach the cache, whose watch is another one.
const outputTimeout = time.Minute

// maxOutput is the length at which the kubelet cuts a termination message. One of that length may have been cut.
const maxOutput = 4096

// readOutput reads the output of a node whose Job has succeeded. It returns false if the output isn't known yet. After outputTimeout it is
// lost.
func (p *pass) readOutput(i int, job *batchv1.Job, o outcome.Outcome) bool {
	name := p.Names[i]
	if p.isKnown(name) {
		return true
	}
	pod := outcome.FirstSucceeded(p.pods[job.UID])
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
	switch text := outcome.TerminationMessage(pod); {
	case len(text) >= maxOutput:
		p.lost[name] = fmt.Sprintf("it has %d bytes or more, and Kubernetes keeps no more of it", maxOutput)
	case strings.ContainsRune(text, 0):
		p.lost[name] = "it has a NUL byte, which no environment variable can hold"
	default:
		p.outputs[name] = strings.ToValidUTF8(text, "\uFFFD")
	}
	return true
}

// isKnown reports whether the output of a node is known, or that it is lost.
func (p *pass) isKnown(name string) bool {
	_, known := p.outputs[name]
	return known || p.lost[name] != ""
}

// readLateOutputs reads the outputs of nodes that had ended before an edit of the spec made another node need them.
func (p *pass) readLateOutputs() {
	for i, isRead := range p.HasReaders {
		if isRead && p.States[i] == record.Succeeded && p.jobs[i] != nil {
			p.readOutput(i, p.jobs[i], outcome.Outcome{Phase: outcome.Succeeded})
		}
	}
}

// output returns the output of a node that has ended: empty if it hasn't succeeded, or has forEach.
func (p *pass) output(i int) (string, error) {
	value, known := p.outputs[p.Names[i]]
	if why := p.lost[p.Names[i]]; why != "" && p.States[i] == record.Succeeded {
		return "", fmt.Errorf("the output of flow %q is lost: %s", p.Names[i], why)
	}
	if !known && p.States[i] == record.Succeeded && p.node(i).ForEach == nil {
		return "", fmt.Errorf(
			"the output of flow %q is lost: its pods were deleted before it was read, or all needed outputs together exceed %d bytes",
			p.Names[i], limitsFor(p.Size()).outputs)
	}
	return value, nil
}

// dropOutputs drops the outputs that no node needs any more, and new ones that don't fit into the status.
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

// sizeOf returns the size of an output in a status, in bytes of JSON, or a little more.
func sizeOf(name, value string) int { return len(name) + message.JSONSize(value) + 30 }

// recordedOutputs returns the outputs that the status records.
func (p *pass) recordedOutputs() []v1alpha1.FlowOutput {
	var outputs []v1alpha1.FlowOutput
	for i, isRead := range p.HasReaders {
		if name := p.Names[i]; isRead && p.isKnown(name) {
			outputs = append(outputs, v1alpha1.FlowOutput{Name: name, Value: p.outputs[name], Lost: p.lost[name]})
		}
	}
	return outputs
}
