// Package v1 holds the example's kind, TFJob.
//
// +kubebuilder:object:generate=true
// +groupName=examples.armature.dev
package v1

//go:generate go tool -modfile=../../../../tools/gen/go.mod controller-gen object crd:generateEmbeddedObjectMeta=true paths=. output:crd:dir=../../config
//go:generate go run ../../../../tools/trimcrd -embedded template ../../config
