// Package v1beta1 holds the kind Pinot of the operator that dsoi-spec names, with DSOI's terms embedded.
//
// +kubebuilder:object:generate=true
// +groupName=datainfra.io
package v1beta1

//go:generate go tool -modfile=../../../../tools/gen/go.mod controller-gen object crd paths=. output:crd:dir=../../config
//go:generate go run ../../../../tools/trimcrd ../../config
