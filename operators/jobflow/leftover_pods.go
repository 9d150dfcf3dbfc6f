package jobflow

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// slot is what Jobs run one after another: a node, or an item of one (-1: no item).
type slot struct {
	node string
	item int
}

// findLeftover finds the pods that still run and whose Job is gone.
func (p *pass) findLeftover() {
	for _, pod := range outcome.Leftover(builder.Watched[*corev1.Pod](p.view), builder.Owned[*batchv1.Job](p.view)) {
		if p.leftover == nil {
			p.leftover = map[slot]*corev1.Pod{}
		}
		s := slot{pod.Labels[LabelFlow], labelNumber(pod.Labels[LabelItem], -1)}
		if p.leftover[s] == nil { // the first one, by name
			p.leftover[s] = pod
		}
		if i, ok := p.Index[s.node]; ok && int(i) < p.NumFlows && p.firstLeftover == nil {
			p.firstLeftover = pod
		}
	}
}

// waitsForPods reports whether a node or an item waits for a pod of an earlier Job before it gets its Job.
func (p *pass) waitsForPods(i, item int) bool {
	pod := p.leftover[slot{p.Names[i], item}]
	if pod != nil {
		p.waitFor(i, pod)
	}
	return pod != nil
}

// finallyWaitsForPods reports whether finally waits for a pod of a stopped Job.
func (p *pass) finallyWaitsForPods() bool {
	if !p.stopped || p.firstLeftover == nil {
		return false
	}
	for i := p.NumFlows; i < p.Size(); i++ {
		if p.States[i] == record.Pending {
			p.waitFor(i, p.firstLeftover)
		}
	}
	return true
}

// waitFor blocks a node by a pod, unless it has a message already.
func (p *pass) waitFor(i int, pod *corev1.Pod) {
	if p.findings[i].message == "" {
		p.block(i, v1alpha1.ReasonPodsTerminating, fmt.Sprintf("waits for pod %s of an earlier Job to end", pod.Name))
	}
}
