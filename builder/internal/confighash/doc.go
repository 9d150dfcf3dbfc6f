// Package confighash computes one digest of what a child's pods are configured with.
//
// It takes values (Kubernetes objects, or anything that hashstructure takes) and returns a text. Of a ConfigMap the data and binaryData
// count, of a Secret the data and stringData, of another object all but metadata, status and apiVersion, of any other value what
// hashstructure sees of it. Invariant: neither the order of the values nor that of maps matters, no argument is changed, and the digest
// of the same configuration is the same in each release: another one would roll the pods of all users.
package confighash
