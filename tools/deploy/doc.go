// Package deploy holds the chart charts/armature and the kustomize bases of config against each other, and tests what
// the chart's values do, by Helm 4 and by Helm 3. Its module pins Helm 4 and kustomize, tools/helm3 pins Helm 3:
//
//	go tool -modfile=tools/deploy/go.mod helm template armature charts/armature
//	go tool -modfile=tools/deploy/go.mod kustomize build config/default
//	go tool -modfile=tools/helm3/go.mod helm template armature charts/armature
package deploy
