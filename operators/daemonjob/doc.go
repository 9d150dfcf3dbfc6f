// Package daemonjob runs a Job on every node, as a DaemonSet runs a pod there.
//
// [Plan] is the whole operator: a pure function of a DaemonJob, its Jobs and the cluster's nodes. [Setup] adds it to a manager.
// It is the smallest of the operators, and the one to read first. In its comments a job is a DaemonJob, and a Job is a Job of batch/v1.
// Read it in this order; the builder makes the view that Plan takes, and carries out what it returns:
//
//	setup.go    which events run a plan, and what the plan reads in its view
//	plan.go     Plan: from the view to the builder's plan
//	observe.go  the spec's problems, and the state of each node
//	decide.go   how the job continues: further Jobs, a pause, the end
//	status.go   the status and its conditions
//
// Each policy is in a file of its own, named after the field of the API or the idea that it implements:
//
//	eligible_nodes.go     which nodes the job is for, which of them can take a pod now, and the validation of the spec
//	job.go                the Job of a node
//	parallelism.go        how many Jobs start
//	failure_policy.go     how many failures are too many
//	unavailable_nodes.go  nodes that become unavailable while they run their Job
//	retry.go              the recorded status, and what a retry resets
//	suspend.go            suspending and resuming Jobs, and deleting those in queues of Kueue
//	end.go                a job that has ended, under the former operator of the kind (jobflow-operator) too, or is being deleted
//	events.go             events, on transitions of the status
//	node_states.go        the state of each node, for those who show a job
//
// # What the status records
//
// The status records by name that a node has succeeded or failed, and that holds whatever happens to its Job. Everything else
// is observed in each pass. A Job that is deleted before its end is recorded is created again, once its pods have ended. A Job
// that is being deleted counts as active until it is gone.
//
// A node is identified by name and UID. When a node is gone, the operator drops its record and deletes its Job. A node that
// comes back under the same name with another UID is a new node: the operator first drops the old record, then deletes the former
// Job, then creates a new one. The order is an invariant: a crash between the steps must not make the new node look as if it
// had run. A Job that failed before a retry is a former Job, too.
//
// # Changes of the spec
//
// A change applies to nodes that have no Job yet. After a change that makes the spec invalid no further Job starts; running Jobs
// continue, and their ends are recorded. The end of a job is final, except that a failed job can be retried.
package daemonjob
