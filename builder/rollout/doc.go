// Package rollout has the options and the state of a roll-out in phases.
//
// Package builder rolls out changes of the children that are in a phase (builder.InPhase). The [Options] are in Plan.Rollout or
// Builder.Rollout; the [Status] is in Result.Rollout, and a plan reads it with View.Rollout. An operator without phases doesn't need
// this package.
//
// # The order of changes
//
// At the first install the builder applies all phases at once, unless InstallInOrder or builder.RunOnce sets an order. From then on it
// rolls out a change phase by phase: it writes the changes of a phase when all earlier phases are up to date and ready, by the rules of
// package readiness. While a phase isn't ready, or has failed, later phases are paused. Drift is not a change: if someone edits or
// deletes a child of any phase, the builder restores it at once, to its state before the roll-out if its phase is paused. The builder
// applies children without a phase first and never pauses them, because a PersistentVolumeClaim that is bound by its first consumer
// would never become ready. It prunes when all phases are complete.
//
// A change during a roll-out starts a new roll-out at the first phase. Changes that the old one has made in later phases stay until
// the new one reaches them. Renaming or reordering phases alone starts no roll-out.
//
// Phases work with Builder.Reconcile and with plans. In Create and Update they are builder.ErrMisuse.
//
// # The revision history
//
// The revision history consists of ControllerRevisions (apps/v1) that the owner controls: the last two completed ones, and the current
// one. Until the first one is completed, the roll-out is a first install, also for an owner whose children existed before they had
// phases. A revision's name is <owner>-<hash>. The builder reads revisions from the cache: an Operator should have them in Owns, a
// reconciler of your own in Engine.Index. The owner must be namespaced. A pass over unchanged children makes no request. Without
// phases there are no revisions.
//
// A revision has the children as they were applied, but only the digest of a Secret (as its annotation has). The hash in its name
// covers all applied fields, except the first values of ignored fields. The builder never applies a revision whose data don't match:
// the roll-out stops. Someone who can create ControllerRevisions could fabricate one with a matching name. So only the revision that
// the owner's condition RolledOut names is rolled back to (Engine.ReportStatus). An owner without conditions needs
// Options.CompletedRevision for that. One that isn't named only makes a first install go phase by phase, because the pass that completed it
// may have ended before it wrote the status.
//
// # StatefulSets
//
// A StatefulSet with podManagementPolicy OrderedReady, the default, never replaces a pod that isn't ready, even after its template is
// fixed or restored. For a StatefulSet in a phase the builder deletes such a pod if its revision is no longer desired. That takes the
// permissions to list and delete pods. Without them the conditions have the command that someone must run.
package rollout
