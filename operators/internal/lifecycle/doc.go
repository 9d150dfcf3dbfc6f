// Package lifecycle has the rules by which every batch kind begins, runs, ends and is deleted: who manages an object
// (spec.managedBy), its timers (activeDeadlineSeconds, ttlSecondsAfterFinished), its conditions and their transitions, and
// what happens after its end. They are functions of what the API keeps and of the time, so they also hold when the time
// passed while no controller was running. The operators decide when these things happen; this package is the only place that
// says how.
//
//	managedby.go   which objects the bundled operators act on
//	timers.go      deadlines and times to live
//	conditions.go  how conditions are set, removed and concluded
//	transition.go  which changes of a status are transitions, and the events of those
//	status.go      when a status is written: not if it is the recorded one, later if only counts have changed
//	suspend.go     how a Job is suspended and resumed
//	end.go         the events of a spec that is refused, and of a change that comes after the end; ends under a former operator
package lifecycle
