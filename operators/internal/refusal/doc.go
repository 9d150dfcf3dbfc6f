// Package refusal finds out why a Job has no pods: the API server refuses them, because of Pod Security, a quota or a webhook. A Job's
// status doesn't say so. Only the Job controller's event FailedCreate has the reason.
//
// Events are many, and of no use while all is well, so they are neither watched nor cached. The operator lists them only while an owner
// has a Job that has started and still has no pod after [grace], and at most once in [freshness] for all owners of a namespace. A tenant
// whose pods are refused costs one request in that time, whatever the number of its Jobs.
//
// An operator declares [External], its plan calls [Of]:
//
//	setup.go    which events there are, by Job
//	refusal.go  which Jobs they are listed for, and when again
package refusal
