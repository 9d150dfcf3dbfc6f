// Package preview shows what the operators of a program would do in a cluster, and does nothing. Use it before an upgrade: the new
// version of the program says which owners it would change, and what that disrupts.
//
//	mgr := preview.Around(mgr)
//	webapp.Setup(mgr) // the same setup as in the program
//	report, err := mgr.Run(ctx)
//	report.WriteText(os.Stdout)
//
// For each owner it runs one pass whose writes are dry runs of the API server (see [builder.Operator.Diff]). Plans are pure, so the pass
// is the one that the program would run. An owner without a change costs no request. The credentials need the permissions of the
// program: the API server checks them also for a dry run, and what it refuses is a problem in the report.
//
// # What is disruptive
//
// A change is disruptive if it
//
//   - deletes an object, or deletes and recreates it;
//   - changes the pod template of a Deployment, StatefulSet or DaemonSet, which restarts its pods;
//   - lowers a number of replicas.
//
// # Limits
//
// A preview shows the next pass of each owner. Changes that follow from that pass's result, such as later phases of a roll-out, aren't in
// it; the report lists the children that wait. It doesn't compare the status.
package preview
