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

// slot is what one Job after another may run: a node, or one of its items (-1 for none).
type slot struct {
	node string
	item int
}

// findLeftover finds the pods of Jobs that are gone.
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

// waitsForPods reports whether a node's Job, or an item's, can't be created yet because a pod of an earlier one hasn't ended.
func (p *pass) waitsForPods(i, item int) bool {
	pod := p.leftover[slot{p.Names[i], item}]
	if pod != nil {
		p.waitFor(i, pod)
	}
	return pod != nil
}

// finallyWaitsForPods reports whether finally can't start yet because a pod of a Job that was stopped hasn't ended.
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

func (p *pass) waitFor(i int, pod *corev1.Pod) {
	if p.findings[i].message == "" {
		p.block(i, v1alpha1.ReasonPodsTerminating, fmt.Sprintf("waits for pod %s of an earlier Job to end", pod.Name))
	}
}

// flowsOf returns the name of the JobFlow that a pod was made for.
func flowsOf(pod *corev1.Pod) []string {
	if name := pod.GetAnnotations()[AnnotationJobFlow]; name != "" {
		return []string{name}
	}
	if name := pod.GetLabels()[LabelJobFlow]; name != "" {
		return []string{name}
	}
	return nil
}
