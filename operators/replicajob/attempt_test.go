package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Anyone who may label pods can write any number.
func TestAttemptOf(t *testing.T) {
	for label, attempt := range map[string]int32{
		"": 0, "x": 0, "-1": 0, "2": 2, "1048576": maxAttempt, "1048577": 0, "2147483647": 0, "99999999999": 0,
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{LabelRestartAttempt: label}}}
		p := &pass{last: &v1alpha1.ReplicaJobStatus{}}
		assert.Equal(t, attempt, p.attemptOf(pod), label)
		p.last.Restarts = maxAttempt + 1
		if label == "1048577" {
			assert.Equal(t, p.last.Restarts, p.attemptOf(pod), "the job has come to it")
		}
	}
}
