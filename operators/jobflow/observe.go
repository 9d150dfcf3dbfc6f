package jobflow

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// observe finds out what has become of each node that hasn't ended yet: what its Job says, or the Job's pods.
func (p *pass) observe() {
	p.findJobs()
	p.gatherPods()
	p.findLeftover()
	for i, job := range p.jobs {
		if job != nil && !p.States[i].HasRun() { // one that was skipped has been started by a pass that was cut short
			p.judge(i, job)
		}
	}
	p.observeItems()
	p.observeDeparted()
	p.findRefused()
	p.readLateOutputs()
}

// findJobs says which Jobs are whose.
func (p *pass) findJobs() {
	for _, job := range builder.Owned[*batchv1.Job](p.seen) {
		if i, ok := p.ByJobName[job.Name]; ok {
			p.jobs[i] = job
			continue
		}
		p.sort(job)
	}
}

// sort says what a Job is that isn't called as one of a node's: an item's, one of an earlier attempt, or one of a node
// that isn't in the spec any more. Others are no business of ours.
func (p *pass) sort(job *batchv1.Job) {
	node := job.Labels[LabelFlow]
	if node == "" {
		return
	}
	retry := int32(number(job.Labels[LabelRetry], 0))
	if retry < p.retry {
		p.former = append(p.former, job)
		return
	}
	i, known := p.Index[node]
	item := number(job.Labels[LabelItem], -1)
	switch {
	case !known && item >= 0:
		p.departed = append(p.departed, departedJob{node + "#" + strconv.Itoa(item), job})
	case !known:
		p.departed = append(p.departed, departedJob{node, job})
	case item >= 0 && job.Name == graph.ItemJobName(p.flow.Name, node, item, p.retry):
		if p.itemJobs == nil {
			p.itemJobs = map[itemKey]*batchv1.Job{}
		}
		p.itemJobs[itemKey{int(i), item}] = job
	}
}

// number reads a label's number.
func number(text string, otherwise int) int {
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

// gatherPods finds the pods of Jobs that haven't ended, and of those whose output isn't known.
func (p *pass) gatherPods() {
	p.pods = outcome.GroupByJob(builder.Owned[*corev1.Pod](p.seen), func(ref *metav1.OwnerReference) bool {
		i, ok := p.ByJobName[ref.Name]
		return !ok || p.jobs[i] != nil && p.jobs[i].UID == ref.UID && (!p.States[i].HasRun() || p.HasReaders[i])
	})
}

// judge records what has become of a node, as far as its Job has come.
func (p *pass) judge(i int, job *batchv1.Job) {
	o := p.outcomeOf(job)
	switch o.Phase {
	case outcome.Running:
		p.States[i] = record.Running
		p.active++
		return
	case outcome.Succeeded:
		if p.HasReaders[i] && !p.readOutput(i, job, o) {
			p.States[i] = record.Running // its pods haven't been seen yet
			return
		}
		p.end(i, record.Succeeded, news{job: job, ended: o.Ended})
	case outcome.Failed:
		p.end(i, record.Failed, news{job: job, ended: o.Ended, message: o.Why()})
	}
}

// outcomeOf is how a Job has ended: by its conditions, or, if the flow doesn't ask to wait for these, by its pods.
func (p *pass) outcomeOf(job *batchv1.Job) outcome.Outcome {
	if p.spec.EndOfJob == v1alpha1.EndOfJobCondition {
		return outcome.Of(job)
	}
	return outcome.Earliest(job, p.pods)
}
