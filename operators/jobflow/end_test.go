package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func withTTL(job *batchv1.Job, seconds string) *batchv1.Job {
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, AnnotationTTL, seconds)
	return job
}

func TestJobsOfOthersDontExpire(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.step()
	for range 3 {
		assert.Empty(t, s.step(completeJob("a"), withTTL(completeJob("stranger"), "0")).Delete)
	}
	for _, text := range []string{"", "soon", "-1"} {
		_, ok := ttlOf(withTTL(completeJob("a"), text))
		assert.False(t, ok, text)
	}
}
