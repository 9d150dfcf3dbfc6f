// Package localnode runs Kubernetes nodes whose containers are processes of this
// machine: no root, no container runtime, no images, loopback only. It is a tool
// for development; it isolates nothing from anything.
//
// The nodes are virtual-kubelet nodes. From the outside in:
//
//   - Run registers the nodes and serves them: per node a virtual-kubelet node
//     controller (node object, lease), a virtual-kubelet pod controller and an
//     HTTPS server with the kubelet's API (logs, exec, port-forward).
//   - provider is the node's end of the pod controller; podClient is the API as
//     that controller sees it, which corrects how it writes status and deletes.
//   - package pods leads a pod through its life, container by container.
//   - packages volumes, podenv, pathmap, probes, podlog each do one part of that.
//   - package process starts commands, and package shim is the small process above
//     each command that ends it when the node is gone.
//
// A container has a directory as its root: mountPath /data is at
// $DEVCLUSTER_ROOT/data. Programs are not chrooted, so container paths in the
// command, arguments and environment are rewritten to the real ones: see package
// pathmap for the rules, and docs/local-nodes.md for all that differs from a real
// node.
package localnode
