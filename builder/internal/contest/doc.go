// Package contest records the children that another writer changes, deletes or recreates repeatedly, so that the builder and the other
// writer don't overwrite each other forever.
//
// Record takes the operation of a pass on a child: restored fields, a creation, a recreation, a new desired state. It returns whether
// the builder must suspend its writes of the child, and the contests of an owner. The third correction of one field in a row begins a
// contest. The builder then waits from 1 second to 5 minutes between corrections, twice as long each time, until the other writer
// stops for a while.
//
// Invariants: a new desired state is always applied at once; the contest of one child delays no other child. The record is limited in
// size, in memory, and only limits a rate: after a restart it is learned again.
package contest
