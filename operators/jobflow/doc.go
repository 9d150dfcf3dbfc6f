// Package jobflow runs the Jobs of a JobFlow in the order of their dependencies.
//
// [Plan] is the whole operator: a pure function of a JobFlow, its Jobs, their pods, and the JobTemplates it names. [Setup]
// lets a manager run it. The files follow a pass:
//
//	observe.go, output.go, foreach.go  what has become of the nodes: their Jobs, the Jobs' pods, outputs and items
//	infer.go, departed.go, edits.go    what was deleted too early, taken out of the spec, or edited too late
//	retry.go, suspend.go, stop.go      what is asked of the flow as a whole; over.go: what is left to do at its end
//	decide.go, finally.go              which nodes are skipped, which wait, which start
//	leftover.go                        pods of Jobs that are gone, which are waited for
//	success.go                         which failures count: allowFailure, successWhen
//	job.go                             the Job of a node
//	status.go, detail.go, room.go      the status, which stays below 100 KiB; conditions.go, tell.go: conditions and events
//	ttl.go                             Jobs that are deleted some time after their end
//
// # The record
//
// The status records the end of a node, and the record is final, even if the Job is deleted: only a retry runs a
// succeeded or failed node again. Each pass observes everything else again. A Job that is deleted before its end was
// recorded is recreated under the same name, once its pods have ended, unless a dependent has started: then the Job must
// have ended.
//
// # When a Job counts as succeeded
//
// As soon as its pods determine it, unless spec.endOfJob says to wait for the Job's condition: package outcome
// (operators/internal/outcome) has the rule, and why it holds. Failures always wait for the condition.
//
// # Changes of the spec
//
// A change holds for what hasn't been started. What has been started stays as it is; the condition EditRefused names the
// node and the field of a change that has no effect. Once a flow has ended it is final, until it is retried.
//
// # Permissions
//
// They are in config/rbac/operator-jobflow.yaml; the integration tests run with exactly these.
package jobflow
