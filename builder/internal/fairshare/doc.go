// Package fairshare leaves CPU for the plans of every namespace. It takes how long each plan took, and returns whether another
// plan of a namespace may run now.
//
// A work queue in which namespaces take turns isn't enough: the plan of one object of 10,000 expressions can take a second, and
// as many of them as there are CPUs delay everything else in the process, since each step of a short pass then waits for a time
// slice. So the plans of a namespace whose plans were expensive lately run one at a time, and those of all such namespaces
// together use at most half of the CPUs.
//
// Invariant: a namespace whose plans are cheap never waits, and one of which nothing is known waits only for its own first plan.
// What is known is in memory only: a process that starts learns it from each namespace's first plan.
package fairshare
