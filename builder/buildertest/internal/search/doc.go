// Package search visits the states of a system: all of them within bounds, or those of random walks. It knows nothing of Kubernetes.
//
//	system.go    what a system says about itself: its start, the steps of a state, what a step leads to
//	exhaust.go   Exhaust: depth first, each state once, sleep sets against orders of steps that lead to the same state
//	walk.go      Walk: random walks that continue from states no walk had seen before
//	follow.go    Follow: from the start along a list of names, as a replay does
//	shrink.go    Shrink: the fewest names with which a trace still fails
//
// A state is a value that nothing changes, so the search keeps states instead of ways to reach them. Two states with the same [Hash] are
// one state.
//
// # Never at rest
//
// A step leads in a circle if its state is one on the way to it. A circle in which the tested program has written is a failure: the
// program never comes to rest. A circle without its writes isn't, and ends there.
//
// # Sleep sets
//
// Where steps a and b are independent, a then b leads to the state of b then a. After a was tried in a state, it sleeps in the states
// that b leads to, until a step that isn't independent of it. This saves steps, never states. A state that is reached again with
// other steps asleep is visited again for the steps that were asleep each time before (Godefroid's rule for searches that know their
// states).
package search
