// Package fairshare reserves CPU for the plans of every namespace. It takes the CPU time of each plan, and returns whether another
// plan of a namespace may run now.
//
// A work queue with turns for namespaces isn't enough. The plan of one object of 10,000 expressions can take a second. As many of them
// as there are CPUs delay everything else in the process, because each step of a short pass then waits for a time slice. So the plans
// of a namespace with recent expensive plans run one at a time, and those of all such namespaces together use at most half of the
// CPUs, but at least one. The namespace that has waited longest has the next slot, however many owners of another one retry meanwhile.
//
// A plan that needs something outside of the cluster observes it without a slot, when there is a free one. If others have taken the slot
// meanwhile, the owner asks again with what it has observed. Its namespace keeps its place, so it has at least one turn for each two of
// another namespace.
//
// A plan is expensive if it takes 5 ms of CPU time, as [CPUTime] measures it. On systems where only the wall-clock time is known, a
// process without CPU can also take a cheap plan for one.
//
// Invariant: a namespace without a recent expensive plan waits only for a plan of its own, the first one or the first after it was
// expensive. An expensive namespace never becomes a cheap one by waiting, as long as its owners retry in time. The record is in memory
// only: a new process learns it from each namespace's first plan. On Linux, the CPU time of a plan is that of its goroutine only.
package fairshare
