// Package peers measures Armature's builder side by side with its peers, on one real API server, in one run.
//
// It starts a devcluster of its own, without nodes, and stops its controller manager, so that nothing but the measured
// programs writes to the API server. Each peer gets a manager as its users would set it up. For an owner of N
// Deployments five things are measured, each as one pass of the peer over that owner:
//
//	created    none exists yet
//	unchanged  all exist as wanted; the pass has been made before
//	drifted    someone changed a field of one of them
//	changed    one is wanted otherwise
//	pruned     one isn't wanted any more
//
// Requests are counted at the transport (events aside, which are sent in the background). Allocations are those of the
// whole process, so the cache that takes up a write is in them. Peers take turns, run by run, and the median is shown:
// the machine's mood hits all of them.
package peers
