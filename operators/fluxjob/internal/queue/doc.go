// Package queue decides which jobs get their resources, which lose them, and in which order the others wait. It is arithmetic: [Decide] is
// a pure function of the quotas, the holders, the waiting jobs, and the time. It knows nothing of Kubernetes.
//
// # Words
//
// A [Setup] is a queue and its quota. Setups of one [State] form a cohort: what one of them doesn't use, others may
// borrow, within limits. A [Holder] is a job that holds a share of its setup's quota; a [Job] is one that waits for it.
// [Amounts] say how much, of each resource that any setup of the cohort counts.
//
// # Order
//
// In a setup a higher priority comes first, then an earlier time, then the name: see [Job.Compare]. The same jobs have
// the same order in whatever order they are given. Between setups, those whose first job needs no borrowing go first, so
// that a setup's own quota is its own.
//
// # Rules
//
//   - All or nothing: a job gets all that it needs, or waits.
//   - What is held never exceeds quota: of a setup, its own and its borrowing limit; of all that have lent, what they lend.
//   - StrictFIFO: behind a job that has to wait, all wait. Quota that becomes free in the cohort is reserved for it as far as
//     its setup's own quota goes, so that borrowers can't starve it. BestEffortFIFO: others that fit may go before it.
//   - A job that could not run even if nothing else did blocks no other job.
//   - What is private to each setup ([State.Private]) is neither lent, borrowed nor reclaimed. A setup that holds more of it than its quota
//     preempts for no job, until holders have ended.
//   - With preemption, a job that doesn't fit may take the quota of holders of a lower priority: those of its own setup, and
//     those of others that borrow what its own setup lent. See [Eviction] for which ones. The quota is reserved for it until they
//     are gone. A holder is never evicted for a job of its own priority, so evictions come to an end.
package queue
