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
// # What is remembered
//
// That a node has succeeded or failed is recorded in the status, by its name, and from then on holds whatever happens to
// its Job. Everything else is seen anew in each pass. A Job that is deleted before its end was recorded is made again,
// once its pods have ended; one that is being deleted counts as active until it is gone.
//
// A node is itself by name and UID. One that is gone is forgotten, with its Job. One that was made anew under its old
// name is a new node: its predecessor's record is dropped, then its Job deleted, then it gets its own. The order
// matters: a crash between the steps must not make the new node look as if it had run.
//
// # Changes of the spec
//
// A change holds for nodes that haven't got their Job. A change that makes the spec invalid starts nothing more; what
// runs goes on, and is recorded. Once a job has ended it is final, but for a retry if it has failed.
package daemonjob
