// Package jobflow runs the Jobs of a JobFlow in the order of their dependencies.
//
// [Plan] is the whole operator: a pure function of a JobFlow, its Jobs and the JobTemplates it names. [Setup] lets a
// manager run it. The files follow the thought:
//
//	validate.go  is the spec sound? names, edges, templates
//	graph.go     nodes and edges by index, their order, a cycle
//	outcome.go   what has become of a node: what was recorded, or its Job's outcome
//	walk.go      from the nodes' outcomes: which are skipped, which wait, which start
//	job.go       the Job of a node
//	status.go    the flow's status and conditions, from its nodes' states
//	tell.go      events: what is in the new status and wasn't in the last
//	ttl.go       Jobs that are deleted some time after their end
//
// # What is remembered
//
// A node's end is recorded in status.flows, and from then on holds whatever happens to its Job: a node that has
// succeeded or failed never runs again. Everything else is seen anew in each pass. A Job that is deleted before its end
// was recorded is made again, under the same name; one that is being deleted counts as running until it is gone.
//
// # Changes of the spec
//
// While a flow runs, a change holds for what hasn't been started: Jobs that exist stay as they are, a node can be added,
// and one that is taken out is forgotten (its Job is left alone and no longer counts). A change that makes the spec
// invalid starts nothing more; what runs goes on, and is recorded. Once a flow has ended it is final.
package jobflow
