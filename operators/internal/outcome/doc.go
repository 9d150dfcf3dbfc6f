// Package outcome says how a Job ended, for the operators that run Jobs.
//
// [Of] goes by the Job's final conditions. [OfPods] goes by its pods, and is earlier: the Job controller gathers changes
// of pods for about a second before it evaluates them, so that a Job whose pod ends at once is complete only a second
// later, and a chain of such Jobs takes a second a link.
//
// # When pods decide
//
// The Job controller (syncJob in pkg/controller/job of Kubernetes 1.37) makes a Job complete when as many pods as
// completions have succeeded and none is active, unless something else ends the Job before. What else there is:
//
//   - activeDeadlineSeconds, podFailurePolicy, successPolicy, backoffLimitPerIndex and maxFailedIndexes, and a
//     controller of someone else's (managedBy). A Job with one of these is left to its conditions.
//   - backoffLimit. Each pod that fails is counted before it is replaced, and a Job whose limit is exceeded gets no new
//     pods. There are never more pods active than completions are missing. So once the last missing completion has
//     succeeded, no pod is left that could fail and count. More failed pods than the limit are refused all the same.
//   - A pod that is deleted before it has ended counts as failed at that moment, even if it then exits with 0. So a pod
//     that is being deleted doesn't count here.
//   - A pod that the controller itself removes (the Job is suspended, or has fewer completions than before) loses the
//     finalizer batch.kubernetes.io/job-tracking first, and isn't counted. So a pod without the finalizer doesn't count
//     here either, unless the Job's status says that as many were counted, and the Job was never suspended.
//   - A Job without completions ends when one pod has succeeded and all others have ended, however many these are. It is
//     left to its conditions unless its parallelism is 1.
//   - A Job that is being deleted may never get a condition.
//
// With completionMode Indexed each index counts once.
//
// What the rule relies on is that no one else changes the Job's spec in that second, takes finalizers off its pods, or
// rewrites their phases. Those who can't rely on it wait for the condition.
package outcome
