// Package v1 holds the example's kinds: KVStore, which embeds DSOI's terms for a cluster, and KVStoreScaling, which
// embeds those for scaling it.
//
// +kubebuilder:object:generate=true
// +groupName=examples.armature.dev
package v1

//go:generate go tool -modfile=../../../../tools/gen/go.mod controller-gen object crd paths=. output:crd:dir=../../config
//go:generate go run ../../../../tools/trimcrd ../../config
