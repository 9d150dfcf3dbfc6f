// Package pki makes the cluster's certificates: a CA for Kubernetes and one for etcd, kept for the cluster's
// life, and certificates signed by them, issued anew at every start.
package pki
