// Package pods runs the containers of a pod as processes of this machine.
//
// One goroutine, Run, leads a pod through its life: volumes, init containers in
// order, all other containers at once, the end. Every container has a goroutine of
// its own, which runs attempt after attempt as the restart policy says. They share
// the pod's state under one mutex, and after every change a third goroutine sends
// the whole status to the node. The rules are those of the kubelet; where its code
// can be called, it is.
//
// A pod keeps its files in one directory:
//
//	volumes/<volume>                  the volumes that are kept here
//	containers/<name>/root            the container's root directory, new for every attempt
//	containers/<name>/<n>.log         the output of attempt n, which has restart count n
//	containers/<name>/<n>.message     its termination message file
//	containers/<name>/<n>.exit        how it ended, written by its shim
//
// The last file is what a pod is continued from when its node is started again:
// an attempt with the file ended as it says, one without it was killed together
// with the node.
package pods
