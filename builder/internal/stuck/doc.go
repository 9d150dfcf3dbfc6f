// Package stuck finds the pods for which a StatefulSet's controller waits forever.
//
// With podManagementPolicy OrderedReady, the default, the StatefulSet controller replaces no pod while one isn't ready, even if that
// one is of a revision that is no longer desired (kubernetes.io: "Forced rollback"). The package finds such a pod if it is not ready
// and of neither the update nor the current revision. A StatefulSet also completes its current revision with pods that were ready only
// for a moment. The package finds a pod of that revision if it keeps crashing, and during a rollback if it isn't ready.
//
// Functions take an observed StatefulSet and its pods, and return pods, counts and selectors. An Unblocker lists and deletes pods, and
// returns the result. Watch remembers since when a status has been the same, in memory only; if it forgets that, the builder lists the
// pods later.
//
// Invariant: the package never returns a pod that is ready, terminating, of the update revision, without a revision, below the partition,
// or another controller's.
package stuck
