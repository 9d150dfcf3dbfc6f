// Package scope knows which kinds of Kubernetes are cluster-scoped.
//
// It takes a kind, and returns whether it is cluster-scoped. It makes no request: the derivation of roles and the simulated API server have
// no cluster to ask.
//
// Invariant: a kind with a CRD has the scope that the CRD says. The caller looks there first.
package scope
