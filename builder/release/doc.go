// Package release lets a new version of a program change existing owners in turns. Without it, a program whose new default restarts pods
// restarts those of all owners at once, at its start.
//
//	mgr, err := release.Around(mgr, release.Options{MaxOwners: "1", Namespace: "webapp-system"})
//	builder.NewOperator[*v1.WebApp](mgr, "webapp")
//
// When a new build of the program starts, its operators find out which owners it would disrupt, by a pass whose writes are dry runs (as
// package preview does, with the same definition: a changed pod template, a deletion, a recreation, fewer replicas). The builder
// changes all other owners at once. It writes nothing for a disrupted owner but the condition Released, until it is the owner's turn. At
// most MaxOwners of an operator's owners are in their turn at once. A turn ends when nothing is left to change, all children are ready,
// and the owner's condition Ready, if it has one, is True. An owner that fails, or isn't ready in ReadyWithin, halts the roll-out: it
// emits one Warning, and no other owner gets a turn until it is ready or someone calls [Resume]. Owners with the label
// armature.dev/canary: "true" go first, and with them owners that an earlier roll-out has left in their turn. One of them that has no plan,
// because the plan panics or External fails, has its turn nevertheless, and so halts the roll-out.
//
// The dry pass shows the changes of all phases. A child that can't be created disrupts nothing: the owner reports the error as at any other
// time. If the dry run of a change fails, such as by a webhook that denies it, the owner waits for its turn, and its condition says why.
//
// # What is never held
//
//   - A change of the spec by a user: if the owner's generation has moved on since the operator last reported on it, all of its changes
//     are applied at once, those of the program too.
//   - New owners, owners that are being deleted, and owners that someone unpauses during a roll-out.
//   - Owners that end: if the plan's status has a completionTime, and its condition Complete, Succeeded or Failed is True, as that of a
//     Job, the whole pass is carried out. So a job that succeeds, fails or reaches its deadline while it waits ends as at any other
//     time. But it isn't restarted while it waits. An owner that runs again and again, such as a scheduled backup, must not report its
//     last run in this way, or it never has a turn: give the time another name, such as lastCompletionTime, or the condition another type.
//   - Drift, and the plan's own edits and deletions (Plan.Edits, Plan.Delete): they answer to what the plan has observed. But while an
//     owner waits because of another change, it has none of them.
//   - Owners that aren't builder.Conditioned, because their turn would have no record.
//   - Everything after the roll-out is complete: a later change comes from a user or from the cluster, not from the program.
//
// # What is stored
//
// The state is in the API only: a crash, another leader, or a rollback to an earlier build in the middle leads to the same end. The last
// roll-out of each operator is in a ConfigMap, which names the build and has the user's decisions. A roll-out begins when a build starts
// that isn't the one in the ConfigMap, so a rollback is a roll-out, too. An owner keeps a record only if it waits or has had a turn: its
// condition Released, which names the roll-out, and whose observedGeneration is the owner's generation then. The builder stores the
// beginning of a turn before it changes the first child.
//
// So why has an owner without a disruption no record? The builder needs to know whether a change comes from the program or from a user
// only while the roll-out is in progress. Then one dry pass shows that the owner is as the new build wants it, and after the roll-out
// nothing is held. An upgrade that disrupts nothing costs two writes in all, and no write per owner. The price is small: if the program
// restarts during a roll-out, a disruptive change whose cause lies outside the owner's spec, such as a changed Secret, may wait for a turn.
//
// A build is identified by the digest of its executable and of its arguments, because a changed flag can change all owners as well. [Build]
// leaves out arguments. A program that doesn't use this package, such as an earlier version, isn't noticed.
package release
