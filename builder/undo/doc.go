// Package undo lets users return to the state before the last disruptive change of an object.
//
//	mgr, err := undo.Around(mgr, undo.Options{})
//	builder.NewOperator[*v1.WebApp](mgr, "webapp")
//
// Before an operator disrupts children, by a changed pod template of a workload, fewer replicas, a recreation or a deletion, the builder
// keeps the former state of all children that change with them in a ControllerRevision of the owner. The condition Undoable of the owner
// names it. The command
//
//	armature undo webapp/orders
//
// sets the annotation armature.dev/undo to that name, and armature.dev/paused. The builder then applies the former state, once, reports it in
// the condition Undone, and writes nothing else until both annotations are removed ("armature unpause"). Then the operator continues, and
// applies its plan again. So before that, change the spec, or return to the former version of the program.
//
// # What is kept
//
// The former state of a child are the fields that the builder managed in it, with their values then; fields of others stay as they
// are, such as the replicas that an autoscaler sets. The builder keeps one state for each owner. Changes that follow from one generation
// of the spec and one build of the program are undone together, also if they take several passes. What was created stays. Of a
// deletion or a smaller number of replicas the state is kept only if the spec or the program may be the reason: not if the plan decides
// it later, from what it has observed.
//
// Not kept are: Jobs and Pods, which would run again; the values of Secrets, so an undo leaves Secrets as they are; children outside
// the owner's namespace, and those with builder.Retain; changes by the plan's Edits and Delete; and all children of an owner that isn't
// builder.Conditioned, because the name of its state would have no record. A state of more than 960 KB compressed is named, but
// has no content, and can't be restored.
//
// # Why it is safe
//
// The builder creates the ControllerRevision, then names it in the owner's status, and changes the children only in a later pass that
// finds the name there. A crash in between repeats a step. An undo applies the same fields again after a crash, which changes nothing
// twice. The name has a hash of the content, and only the operator writes the status, so a user who may write ControllerRevisions can
// destroy a state but not replace it. The owner owns the ControllerRevision, so it goes with it. The next state replaces it.
//
// # What it costs
//
// Nothing while nothing is disrupted. A disruptive change costs four to six further requests, and another pass. The program
// needs the permission to get, create and delete ControllerRevisions in the owners' namespaces; it neither lists nor watches them. Without
// it, a disruptive change fails with that error.
package undo
