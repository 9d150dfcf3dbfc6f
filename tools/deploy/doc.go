// Package deploy holds the chart charts/armature and the kustomize bases of config against each other, and tests what
// the chart's values do. Its module pins helm and kustomize:
//
//	go tool -modfile=tools/deploy/go.mod helm template armature charts/armature
//	go tool -modfile=tools/deploy/go.mod kustomize build config/default
package deploy
