package jobflow

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// recordingDelay is how soon to look again at a Job whose end is being recorded in this very pass.
const recordingDelay = time.Second

// expire returns the Jobs whose template's ttlSecondsAfterFinished has passed, and when to look again (0:
// never). Kubernetes isn't asked to delete them: it might do so before their end was recorded, and the node would run a
// second time. For the same reason only what the status said before this pass counts; the nodes given are its outcome.
func expire(nodes []v1alpha1.FlowStatus, known records) (expired []client.Object, again time.Duration) {
	for i := range nodes {
		node := &nodes[i]
		job := known.jobs[node.Job]
		if !final(node.State) || job == nil || job.DeletionTimestamp != nil {
			continue
		}
		ttl, ok := ttlOf(job)
		if !ok {
			continue
		}
		left := recordingDelay
		if before := known.was(node.Name); before.CompletionTime != nil {
			left = before.CompletionTime.Add(ttl).Sub(known.now.Time)
		}
		switch {
		case left <= 0:
			expired = append(expired, job)
		case again == 0 || left < again:
			again = left
		}
	}
	return expired, again
}

// ttlOf returns how long a Job is kept after its end, and false for ever.
func ttlOf(job *batchv1.Job) (time.Duration, bool) {
	seconds, err := strconv.ParseInt(job.Annotations[AnnotationTTL], 10, 32)
	if err != nil || seconds < 0 {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}
