// Package v1 holds the tutorial's kind, Backup.
//
// +kubebuilder:object:generate=true
// +groupName=examples.armature.dev
package v1

//go:generate go tool -modfile=../../../../tools/gen/go.mod controller-gen object crd paths=. output:crd:dir=../../config
//go:generate go run ../../../../tools/trimcrd ../../config
