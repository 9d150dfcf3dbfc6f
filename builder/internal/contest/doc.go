// Package contest remembers which children another writer changes, deletes or recreates again and again, so that the builder and the
// other writer don't write without end.
//
// Record takes what a pass did to a child: fields that it restored, a creation, a recreation, a new desired state. It returns whether the
// child is to be left as it is for now, and the contests of an owner. The third correction of one field in a row begins a contest; the
// builder then waits from 1 second to 5 minutes between corrections, twice as long each time, until the other writer stops for a while.
//
// Invariants: a child whose desired state is new is never left as it is; the contest of one child delays no other child. All of it is
// bounded and in memory, and only limits a rate: after a restart it is learned again.
package contest
