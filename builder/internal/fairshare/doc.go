// Package fairshare reserves CPU for the plans of every namespace. It takes the duration of each plan, and returns whether another
// plan of a namespace may run now.
//
// A work queue with turns for namespaces isn't enough. The plan of one object of 10,000 expressions can take a second. As many of them
// as there are CPUs delay everything else in the process, because each step of a short pass then waits for a time slice. So the plans
// of a namespace with recent expensive plans run one at a time, and those of all such namespaces together use at most half of the
// CPUs. They take turns: the namespace that has waited longest has the next one, however many owners of another one ask meanwhile.
//
// Invariant: a namespace with cheap plans never waits, and an unknown one waits only for its own first plan. The record is in memory
// only: a new process learns it from each namespace's first plan.
package fairshare
