// Package fluxjob runs FluxJobs: it waits for a share of the queue's quota, makes a MiniCluster, follows it to its end, and
// gives the share back.
//
// [Plan] is a pure function of a FluxJob, its FluxSetup, its MiniCluster and the Jobs of that. [Setup] lets a manager run
// it, together with the plan of the FluxSetups, which is in the package admission; the doc of that says how a share
// changes hands. The files follow the thought:
//
//	situation.go  what a plan looks at, and whether pods are left
//	plan.go       which step the job is at
//	admit.go      a share is accepted, or given back
//	cluster.go    the MiniCluster: made, stopped, resumed
//	evict.go      the share must be given back: stop, wait for the pods to be gone, line up again
//	finish.go     the end: outcome, cleanup, time to live
//	priority.go   which priority counts in the queue
//	wait.go       why the job waits, and where in the line
//	status.go     conditions and state
//	tell.go       events: what is in the new status and wasn't in the last
//
// The arithmetic of the queue is in the package queue, what a job needs in the package needs.
//
// # What is remembered
//
// All of it is in the status. The number of runs says which reservation is for the present run; the admission is what the
// job holds, from before its MiniCluster is made until the pods are gone. Nothing is made in the pass that accepts a
// share: first the acceptance is written.
package fluxjob
