// Package supervisor brings a cluster up, keeps its components running, and takes it down.
//
// A start is a sequence: pick ports and issue certificates; etcd and the API server; the rights of the nodes;
// the controller manager, the scheduler and the nodes; then wait until all of it answers. A component that
// dies later is started again on the same port. Whatever way the supervisor ends, its components end too: each
// reads a pipe from it (package component), and on Linux the kernel kills them as well.
package supervisor
