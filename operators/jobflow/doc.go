// Package jobflow runs the Jobs of a JobFlow in the order of their dependencies.
//
// [Plan] is the whole operator: a pure function of a JobFlow, its Jobs, their pods, and the JobTemplates that it refers to. [Setup] adds it
// to a manager. In its comments a flow is a JobFlow, a node is an entry of spec.flows or spec.finally, and a Job is a Job of batch/v1.
// Read it in this order; operators/daemonjob is a smaller operator of the same shape:
//
//	setup.go    which events run a plan, and what the plan reads in its view
//	plan.go     Plan: from the view to the builder's plan
//	observe.go  the state of each node, from its Job, the Job's pods, and the record
//	decide.go   whether the flow is stopped; which nodes are skipped, which wait, and which start
//	status.go   the status and its conditions
//
// Internal packages have what a pass only uses: internal/graph compiles and validates the spec, with the expressions of internal/when;
// internal/record stores the ends of up to 10,000 nodes in the status, internal/items those of the items of a list, and internal/outputs
// what nodes wrote that other nodes read.
//
// Each policy is in a file of its own, named after the field of the API or the idea that it implements:
//
//	job.go           the Job of a node or an item: its labels, and the variables of its containers (inputs)
//	for_each.go      a Job for each item of a list
//	success_when.go  which failures fail the flow: allowFailure and successWhen
//	finally.go       nodes that run once all others have ended
//	retry.go         what a retry resets
//	suspend.go       suspending and resuming Jobs
//	stop.go          the end before its time: terminate and activeDeadlineSeconds
//	edits.go         edits of the spec that come too late to have an effect
//	end.go           a flow that has ended or is being deleted: jobRetention, ttlSecondsAfterFinished, and the former operator's flows
//	status_flows.go  the status of single nodes, and the limits that keep the status below 100 KiB
//	events.go        events, on transitions of the status
//
// # What the status records
//
// The status records the end of a node, and that holds whatever happens to its Job: only a retry runs a node again that has run.
// Everything else is observed in each pass. A Job that is deleted before its end is recorded is created again under the same name, once
// its pods have ended. If a node that depends on it has started, its Job must have succeeded, and that is recorded instead.
//
// # When a Job has succeeded
//
// As soon as its pods determine it, unless spec.endOfJob says to wait for the Job's condition: package operators/internal/outcome has the
// rule, and why it holds. A failure always waits for the condition.
//
// # Changes of the spec
//
// A change applies to nodes that haven't started. A started node stays as it is, and the condition EditRefused names the node and the field
// of a change without effect. The end of a flow is final, except that a failed flow can be retried.
//
// # Permissions
//
// They are in config/rbac/operator-jobflow.yaml; the integration tests run with exactly these.
package jobflow
