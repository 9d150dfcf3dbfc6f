// Package component is the inside of one process of the cluster. The binary runs itself once for each of
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler, the local nodes, each node that runs containers, and
// kwok, because these programs keep registries, flags and signal handlers for a whole process and can't share one.
//
// A component takes the flags of the real program. It lives as long as its standard input stays open: that is
// a pipe from the supervisor, which closes by itself when the supervisor is gone for whatever reason.
package component
