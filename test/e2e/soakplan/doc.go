// Package soakplan plans the soak of the end to end suite: what users do and what goes wrong, at what time, and how each
// object has to end. New is a pure function: the same seed and duration give the same script.
//
// How an object ends is computed here, by a small model that knows nothing of the operators. It holds under every fault of
// the script, because the pods are made so that only wanted failures count: a pod that fails on purpose ends with the exit
// code Wanted, which fails its Job at once, and whatever else becomes of a pod (evicted, deleted, killed) is tried again.
package soakplan
