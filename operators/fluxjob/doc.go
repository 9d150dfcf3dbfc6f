// Package fluxjob runs FluxJobs: a job waits for a share of its queue's quota, creates a MiniCluster, follows it to its end, and gives
// the share back.
//
// [Plan] is a pure function of a FluxJob, its queue, its MiniCluster, and the Jobs and pods of that. [Setup] adds it to a manager,
// together with the plan of the queues (FluxSetups), which is in the package admission; its comment describes how a share changes hands.
// Read this one in this order:
//
//	setup.go    which events run a plan, and what the plan reads in its view; watches.go has which jobs an event concerns
//	plan.go     Plan: from the view to the builder's plan
//	observe.go  the queue, its reservations, the MiniCluster, and whether pods are left
//	decide.go   how the job continues: wait, be admitted, run, stop, return to the queue, end
//	status.go   the status and its conditions
//
// Each policy is in a file of its own, named after the field of the API or the idea that it implements:
//
//	queue.go         why the job waits in its queue, and at which position
//	admission.go     a reservation of the queue is accepted or declined
//	mini_cluster.go  the MiniCluster: created, suspended, resumed, recreated
//	eviction.go      the share must be given back: the pods stop first, then the job returns to the queue
//	readiness.go     how often and how soon a job returns whose pods weren't ready in time
//	priority.go      which priority counts in the queue
//	end.go           a job that ends, has ended, or is being deleted
//	events.go        events, on transitions of the status
//
// What a job needs of a queue is in the package needs, and the arithmetic of a queue in the package queue.
//
// # What the status records
//
// The status records everything that a pass depends on. The number of attempts identifies the reservation of the present attempt. The
// admission is what the job holds, from before its MiniCluster is created until the pods are gone. The pass that accepts a share creates
// nothing: the status must record the acceptance first.
package fluxjob
