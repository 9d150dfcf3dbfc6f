// Package stuck finds the pods for which a StatefulSet's controller waits without end.
//
// With podManagementPolicy OrderedReady, the default, the StatefulSet controller replaces no pod while one isn't ready, also if that
// one is of a revision that is no longer desired (kubernetes.io: "Forced rollback"). Such a pod is found if it is not ready and of
// neither the update nor the current revision. One of the current revision, which a StatefulSet completes also with pods that were
// ready for a moment only, is found if it keeps crashing, and while rolling back if it isn't ready.
//
// Functions take a StatefulSet as it was observed and its pods, and return pods, counts and selectors. An Unblocker lists and deletes pods,
// and returns what became of them. Watch remembers since when a
// status has been the same, in memory only: what it has forgotten makes the pods be listed later. Invariant: a pod that is ready, being
// deleted, of the update revision, without a revision, below the partition, or another controller's is never returned.
package stuck
