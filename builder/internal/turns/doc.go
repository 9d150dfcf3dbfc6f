// Package turns lets a new build of a program change existing owners disruptively in turns. Package release explains it to users.
//
// [Turns] has the owners of one operator that wait or are in their turn. [Turns.Take] takes an owner as it was read, and returns its
// part in the roll-out: it may be free, wait, begin its turn, or be in it. [Turn.Advance] takes what a pass has come to, and ends the turn
// or halts the roll-out. They decide nothing from memory that they could not read again: after a restart they have the same answers from
//
//   - the [Record] of the roll-out, a ConfigMap that it writes when a build begins and when all owners have it, and
//   - the condition Released of each owner that waits or has had a turn, which the operator writes with the owner's status.
//
// An owner that isn't disrupted has no record. So a roll-out that disrupts nothing costs two writes, however many owners there are.
// While a roll-out is in progress, one dry pass over each owner finds out whether it is disrupted. Afterwards nothing is held
// until another build begins, because later changes come from users and from the cluster.
//
// Invariants: an owner is granted a turn before its first disruptive write, and the grant is stored in its status before that write.
// Owners that are in their turn count as such until they are ready, in whichever roll-out the turn began.
package turns
