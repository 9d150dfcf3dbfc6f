// Package daemonjob runs a Job on every node, as a DaemonSet runs a pod there.
//
// [Plan] is the whole operator: a pure function of a DaemonJob, its Jobs and the cluster's nodes. [Setup] lets a manager
// run it. It is the smallest of the operators, and the one to read first. The files follow the thought:
//
//	plan.go    from what is seen to what is to be done
//	record.go  what the status remembers, and what a retry makes it forget
//	job.go     the Job of a node
//	rules.go   which nodes the job is for, and which of them can take a pod now; is the spec sound?
//	leftover.go  pods that former Jobs have left
//	survey.go  what has become of each node
//	judge.go   how it goes on: more Jobs, a pause, the end
//	end.go     a job that has ended, or is being deleted
//	status.go  the status and conditions, from all that
//	tell.go    events: what is in the new status and wasn't in the last
//
// # The record
//
// The status records the success or failure of a node by its name, and the record is final, even if the Job is deleted.
// Each pass observes everything else again. A Job that is deleted before its end was recorded is recreated once its pods
// have ended; a Job that is being deleted counts as active until it is gone.
//
// Name and UID identify a node. A deleted node is removed from the record, with its Job. A node that was recreated under
// its old name is a new node: the plan drops its predecessor's record, then deletes its Job, then creates its own. The
// order matters: after a crash between the steps, the new node must not count as ended.
//
// # Changes of the spec
//
// A change holds for nodes that haven't got their Job. A change that makes the spec invalid starts nothing more; what
// runs goes on, and is recorded. Once a job has ended it is final, but for a retry if it has failed.
package daemonjob
