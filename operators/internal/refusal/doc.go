// Package refusal finds out why a Job has no pods: the API server refuses them, by Pod Security, a quota, a webhook. A
// Job's status doesn't say so, and only the Job controller's event FailedCreate has the reason.
//
// Events are many, and of no use while all is well, so they are neither watched nor cached. They are listed only while an
// owner has a Job that has started and still has no pod after [grace], and at most once in [freshness] for all owners of a
// namespace, whatever the number of its Jobs: a tenant whose pods are refused costs one request in that time.
//
// An operator declares [External], its plan asks [Of]:
//
//	setup.go   which events there are, by Job
//	refusal.go what they say of a Job, and when to look again
package refusal
