package diagnose

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestAFailureThatIsAllowedIsNothingWrong(t *testing.T) {
	failing := func(j *batchv1.Job) {
		j.Labels = map[string]string{"api.practice.com/flow": "lint"}
		failedJob(j)
	}
	look := func(allow bool) *Finding {
		found := Diagnose(Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Spec.Flows = []v1alpha1.Flow{{Name: "lint", AllowFailure: allow}, {Name: "deploy"}}
		}, makeJob("f-lint", failing, nil, makePod("p", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })),
			makeJob("f-deploy", nil, nil, makePod("q", nil)))})
		return &found
	}
	assert.True(t, look(false).Wrong())
	assert.False(t, look(true).Wrong(), "%+v", look(true))
}
