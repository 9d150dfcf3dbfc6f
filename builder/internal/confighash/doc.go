// Package confighash computes one digest of the configuration of a child's pods, and sets it in the child's pod template.
//
// [Of] takes values (Kubernetes objects, or any value that hashstructure takes) and returns a text. The digest covers the data and
// binaryData of a ConfigMap, the data and stringData of a Secret, all but metadata, status and apiVersion of another object, and another
// value as hashstructure does. [SetEnv] takes an object of any kind, typed or unstructured, and changes it in place. The object's pod
// template is at spec.template, spec.jobTemplate.spec.template or template.
//
// Invariants: The order of the values and of maps doesn't matter. Of changes no argument, and SetEnv nothing but the variable. The digest
// of the same configuration is the same in each release, because another one would roll the pods of all users.
package confighash
