// Package confighash computes one digest of the configuration of a child's pods.
//
// It takes values (Kubernetes objects, or any value that hashstructure takes) and returns a text. The digest covers the data and
// binaryData of a ConfigMap, the data and stringData of a Secret, all but metadata, status and apiVersion of another object, and another
// value as hashstructure does.
//
// Invariants: The order of the values and of maps doesn't matter. No argument is changed. The digest of the same configuration is the
// same in each release, because another one would roll the pods of all users.
package confighash
