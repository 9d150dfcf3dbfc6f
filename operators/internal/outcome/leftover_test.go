package outcome

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestLeftover(t *testing.T) {
	pod := func(name, kind, uid string, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: phase}}
		if kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "j", UID: types.UID(uid), Controller: new(true)}}
		}
		return p
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "now"}}
	pods := []*corev1.Pod{
		pod("runs", "Job", "now", corev1.PodRunning), pod("former", "Job", "before", corev1.PodRunning), pod("unscheduled", "Job", "before", corev1.PodPending),
		pod("done", "Job", "before", corev1.PodSucceeded), pod("failed", "Job", "before", corev1.PodFailed),
		pod("orphan", "", "", corev1.PodRunning), pod("other", "ReplicaSet", "before", corev1.PodRunning),
	}
	var names []string
	for _, p := range Leftover(pods, []*batchv1.Job{job}) {
		names = append(names, p.Name)
	}
	assert.Equal(t, []string{"former", "unscheduled", "orphan"}, names)
	assert.Empty(t, Leftover(nil, nil))

	by := GroupByJob(pods, func(*metav1.OwnerReference) bool { return true })
	assert.Equal(t, "runs", by.Unended(job).Name)
	assert.Nil(t, by.Unended(&batchv1.Job{}))
}
