// Package fakenode is about simulated nodes: Node objects without a machine, whose pods kwok moves through
// their life by the stages in stages.yaml. A pod on a fake node runs no program; its annotations say how long
// it pretends to run, and how it ends:
//
//	devcluster.armature.dev/run-time: "5s"              how long (default: a moment), or "forever"
//	devcluster.armature.dev/exit-code: "1"              how its containers end (default 0)
//	devcluster.armature.dev/reason: OOMKilled           their reason (default Completed, or Error)
//	devcluster.armature.dev/termination-message: "..."  what they left in /dev/termination-log
//
// A pod with restartPolicy Always runs until it is deleted. With OnFailure, a container that fails is started
// again in the same pod, as a kubelet does.
package fakenode
