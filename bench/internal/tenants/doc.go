// Package tenants measures what one tenant can do to another: how long a single object of one tenant takes, alone and while
// another tenant, or a pod on the network, attacks the manager that both share.
//
// The manager is a process of its own, `armature manager`, with all operators; -before names one of an earlier version to
// compare with. Each attack has a devcluster for itself, without the controllers of Kubernetes, so that nothing but the
// API server, the attack and the manager has a part in what is measured. A probe is one object in a namespace that the
// attacker has no rights in: a JobFlow, a DaemonJob or a MiniCluster until its Job exists, a ReplicaJob until its pod exists, or a FluxJob
// in a queue of its own until it is admitted. Probes follow each other, first alone, then from the beginning of the attack until it has
// sent all and some time has passed.
//
//	attacks.go  what the attacker does
//	kinds.go    the kinds that both tenants create
//	probe.go    the other tenant's objects
//	manager.go  the manager, and the most memory that it used
//	run.go      one attack on one manager, and the flags
//	results.go  the table
package tenants
