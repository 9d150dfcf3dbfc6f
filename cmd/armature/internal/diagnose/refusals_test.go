package diagnose

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRefusedPodsThatNothingLacks: the event about a refused pod outlives the need for the pod.
func TestRefusedPodsThatNothingLacks(t *testing.T) {
	jobOf := func(parallelism int32, completions *int32, active, succeeded int32) client.Object {
		started := now
		return &batchv1.Job{
			Spec: batchv1.JobSpec{Parallelism: new(parallelism), Completions: completions},
			Status: batchv1.JobStatus{
				StartTime: new(metav1.NewTime(started)), Active: active, Succeeded: succeeded,
			},
		}
	}
	daemonSet := func(current, desired, observed int64) client.Object {
		return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: appsv1.DaemonSetStatus{
			CurrentNumberScheduled: int32(current), DesiredNumberScheduled: int32(desired), ObservedGeneration: observed,
		}}
	}
	statefulSet := func(replicas *int32, has int32) client.Object {
		return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: replicas}, Status: appsv1.StatefulSetStatus{Replicas: has}}
	}
	replicaSet := func(replicas *int32, has int32) client.Object {
		return &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: replicas}, Status: appsv1.ReplicaSetStatus{Replicas: has}}
	}
	for name, test := range map[string]struct {
		object client.Object
		lacks  bool
	}{
		"a Job with all its pods":                      {jobOf(2, new(int32(5)), 2, 0), false},
		"a Job that lacks one":                         {jobOf(2, new(int32(5)), 1, 0), true},
		"a Job that lacks its next pods":               {jobOf(2, new(int32(5)), 0, 3), true},
		"a Job with its last pod":                      {jobOf(2, new(int32(5)), 1, 4), false},
		"a work queue with all its pods":               {jobOf(2, nil, 2, 0), false},
		"a work queue that lacks one":                  {jobOf(2, nil, 1, 0), true},
		"a work queue of which one has succeeded":      {jobOf(2, nil, 1, 1), false},
		"a StatefulSet that was scaled down":           {statefulSet(new(int32(2)), 2), false},
		"a StatefulSet that lacks a pod":               {statefulSet(new(int32(2)), 1), true},
		"a StatefulSet of one pod, which it lacks":     {statefulSet(nil, 0), true},
		"a ReplicaSet that was scaled down":            {replicaSet(new(int32(1)), 1), false},
		"a ReplicaSet that lacks a pod":                {replicaSet(new(int32(2)), 1), true},
		"a DaemonSet with all its pods":                {daemonSet(2, 2, 2), false},
		"a DaemonSet that lacks a pod":                 {daemonSet(1, 2, 2), true},
		"a DaemonSet whose status is of an older spec": {daemonSet(2, 2, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			test.object.SetName("o")
			found := unmade(subject{Facts: &Facts{}, Object: made(test.object, []Event{warn("FailedCreate", "exceeded quota")})})
			assert.Equal(t, test.lacks, found != nil)
		})
	}
}
