// Package preview shows what the operators of a program would do in a cluster, and does nothing. Use it before an upgrade: the new
// version of the program says which owners it would change, and what that disrupts.
//
//	mgr := preview.Around(mgr)
//	webapp.Setup(mgr) // the same setup as in the program
//	report, err := mgr.Run(ctx)
//	report.WriteText(os.Stdout)
//
// For each owner it runs one pass whose writes are dry runs of the API server (see [builder.Operator.Diff]). Plans are pure, so the pass
// is the one that the program would run. An owner without a change costs no request. What the API server refuses is a problem in the
// report.
//
// # Read-only credentials
//
// The API server checks the permissions of a write also for a dry run. A preview needs only those to get, list and watch: in place of a
// dry run that isn't permitted it computes the result, as server-side apply would merge it, and Report.Estimated names these writes. Such
// a result lacks the API server's defaults, what admission changes, and what the server would refuse; of an object that was never changed
// since its creation it lacks removed fields. A plan's own edits of single fields are problems then.
//
// # What is disruptive
//
// A change is disruptive if it
//
//   - deletes an object, such as the owner, or deletes and recreates it;
//   - changes the pod template of a Deployment, StatefulSet or DaemonSet, which restarts its pods;
//   - lowers a number of replicas.
//
// A change of the owner's status disrupts nothing, and the report has it apart from the other changes. A time that replaces a time isn't
// a change, so that a heartbeat doesn't make an unchanged owner a changed one.
//
// # Limits
//
// A preview shows the next pass of each owner. Changes that follow from that pass's result, such as later phases of a roll-out, aren't in
// it; the report lists the children that wait. It has neither the operator's own records, which are ControllerRevisions and the
// conditions Released and Undoable, nor the status of an owner with problems, nor what an undo that someone has asked for would restore.
package preview
