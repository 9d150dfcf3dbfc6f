// Package jobs measures the operators that run Jobs, side by side with a client that makes the same Jobs by itself.
//
// Both run on one devcluster with simulated nodes, one after the other and in turns. The client ("bare") knows the Jobs
// beforehand, makes them 32 at a time and only watches: nothing that needs Jobs can be faster than it. The operators run
// in this process, as `armature manager` runs them, on a connection whose requests are counted.
//
//	wide      N Jobs without dependencies: time to success
//	chain     Jobs that succeed at once, each after the last: time a hop
//	handover  chains side by side: from the event that a Job is complete to the event that the next one is created
//	daemon    a Job on each of N nodes: time to success
//	big       a flow of 10,000 nodes: does it end, how large is its status, how much memory is used
package jobs
