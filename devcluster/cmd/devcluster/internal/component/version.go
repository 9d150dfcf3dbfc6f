package component

import (
	"runtime/debug"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// gitVersion is what the Kubernetes release build sets by a linker flag. Built as a dependency, Kubernetes
// calls itself v0.0.0-master+$Format:%H$, which clients can't parse. Its SetDynamicVersion accepts only a
// version that agrees with this variable, so the variable is set first.
//
//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

func init() {
	if v := KubernetesVersion(); v != unknown {
		gitVersion = v
		if err := version.SetDynamicVersion(v); err != nil {
			panic("set the Kubernetes version: " + err.Error())
		}
	}
}

const unknown = "unknown"

// KubernetesVersion is the version of Kubernetes that this program is built from.
func KubernetesVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "k8s.io/kubernetes" {
				return dep.Version
			}
		}
	}
	return unknown
}
