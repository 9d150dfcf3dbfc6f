package readiness_test

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/readiness"
)

// A plan tells in its status what isn't ready, and why. A Job that has failed is told from one that runs.
func ExampleOf() {
	job := &batchv1.Job{Status: batchv1.JobStatus{Active: 1}}
	fmt.Printf("%+v\n", readiness.Of(job))
	job.Status.Conditions = []batchv1.JobCondition{{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit",
	}}
	fmt.Printf("%+v\n", readiness.Of(job))
	// Output:
	// {Ready:false Failed:false Message:is not complete: 0 succeeded, 1 active, 0 failed}
	// {Ready:false Failed:true Message:BackoffLimitExceeded: Job has reached the specified backoff limit}
}
