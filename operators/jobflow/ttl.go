package jobflow

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// recordingDelay is how soon to look again at a Job whose end has yet to be put on record.
const recordingDelay = time.Second

// expired returns the Jobs whose template's ttlSecondsAfterFinished has passed. Kubernetes isn't asked to delete them: it
// might do so before their end was recorded, and the node would run a second time. For the same reason only what was on
// record before this pass counts.
func (p *pass) expired() []client.Object {
	var jobs []client.Object
	look := func(job *batchv1.Job, onRecord func() bool) {
		ttl, ok := ttlOf(job)
		if !ok || job.DeletionTimestamp != nil {
			return
		}
		o := outcome.Of(job)
		if o.Phase == outcome.Running {
			return
		}
		expiry := lifecycle.Expiry(o.Ended, &ttl, p.seen.Now)
		switch {
		case expiry.Due && onRecord():
			jobs = append(jobs, job)
		case expiry.Due:
			p.wakeIn(recordingDelay)
		default:
			p.wakeIn(expiry.Left)
		}
	}
	for i, job := range p.jobs {
		if job != nil {
			look(job, func() bool { return p.recorded.States[i].HasEnded() })
		}
	}
	for _, key := range p.sortedItemJobs() {
		look(p.itemJobs[key], func() bool { return p.isItemOnRecord(key) })
	}
	for _, job := range p.former {
		look(job, func() bool { return true })
	}
	for _, d := range p.departed {
		look(d.job, func() bool { return p.onRecord(record.HashName(d.name)) })
	}
	return jobs
}

// isItemOnRecord reports whether an item's end was on record before this pass.
func (p *pass) isItemOnRecord(key itemKey) bool {
	if p.recorded.States[key.node].HasEnded() {
		return true
	}
	for _, s := range p.flow.Status.Items {
		if s.Name != p.Names[key.node] {
			continue
		}
		for _, ended := range []v1alpha1.Indexes{s.Succeeded, s.Failed} {
			for item := range ended.Below(graph.MaxItems) {
				if item == key.item {
					return p.retry == p.flow.Status.Retry
				}
			}
		}
	}
	return false
}

// ttlOf returns how many seconds a Job is kept after its end, and false for ever.
func ttlOf(job *batchv1.Job) (int32, bool) {
	text := job.Annotations[AnnotationTTL]
	if text == "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(text, 10, 32)
	if err != nil || seconds < 0 {
		return 0, false
	}
	return int32(seconds), true
}

// eachJob visits all of the flow's Jobs.
func (p *pass) eachJob(visit func(*batchv1.Job)) {
	for _, job := range p.jobs {
		if job != nil {
			visit(job)
		}
	}
	for _, key := range p.sortedItemJobs() {
		visit(p.itemJobs[key])
	}
	for _, job := range p.former {
		visit(job)
	}
	for _, d := range p.departed {
		visit(d.job)
	}
}
