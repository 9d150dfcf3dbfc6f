// Package disruption says what a change of an object disrupts. A preview reports it, and a roll-out of a new build lets such changes
// happen owner by owner; both have the definition here.
//
// It takes the API group of an object, an operation and the fields that it changes, and returns a text.
//
// Invariant: the same change has the same text in both, and no other package decides what is disruptive.
package disruption
