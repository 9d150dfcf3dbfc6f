package dsoi

import (
	"bytes"
	"encoding/json"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// Each node has a copy of the groups that it names, so a spec of 1.5 MB, the most that etcd stores, could describe gigabytes. The engine
// sums the sizes of all copies before it makes the first.
const (
	// maxConfiguration limits the files of a node's ConfigMap, in bytes without their names, as the API server does.
	maxConfiguration = 1 << 20
	// maxConfigurations limits the configuration of all nodes together, in bytes, with the files that later groups replace.
	maxConfigurations = 16 << 20
	// maxK8s limits the k8sConfigGroup of all nodes together: bytes of JSON, and perObject for each object in it. Memory takes up to
	// ten times as much.
	maxK8s = 8 << 20
	// perGroup is what a group of a node takes, in bytes, beside its texts.
	perGroup = 256
	// perFile is what a file of a node takes, in bytes, beside its texts.
	perFile = 64
	// perObject is what a JSON object takes in memory, in bytes, beside its text. A volume {"name":"a"} has 270 bytes in memory.
	perObject = 64
	// perNode is what the objects of a node take in memory, in bytes, beside its groups.
	perNode = 8 << 10
)

// sizes sums up what the nodes of a description have.
type sizes struct {
	app, k8s map[string]int // by group
	external int            // what each node has of the external dependencies

	nodes, configurations, k8sGroups int // of the nodes so far
}

func (d *description) sizes() *sizes {
	s := &sizes{app: make(map[string]int, len(d.app)), k8s: make(map[string]int, len(d.k8s))}
	for name, group := range d.app {
		s.app[name] = sizeOf(&group)
	}
	for name, group := range d.k8s {
		data, _ := json.Marshal(&group) // of what was JSON it doesn't fail
		s.k8s[name] = len(data) + perObject*bytes.Count(data, []byte("{"))
	}
	for name, external := range d.external {
		s.external += len(externalFile(name)) + len(external.Spec) + perFile
	}
	return s
}

// sizeOf returns how much of a node's configuration a group is.
func sizeOf(g *v1beta1.AppConfigGroup) int {
	size := len(g.Data) + len(g.CommonRuntimeProperties) + len(g.RuntimeProperties) + len(g.OverrideProperties)
	for name, text := range g.Files {
		size += len(name) + len(text) + perFile
	}
	return size
}

// memory returns what is remembered of all nodes, in bytes.
func (s *sizes) memory() int { return s.nodes*perNode + s.configurations + s.k8sGroups }

// add counts a node with its groups. It reports whether the nodes so far are within the limits of all nodes.
func (s *sizes) add(d *description, n v1beta1.Node, groups []string) bool {
	size := s.external
	for _, name := range groups {
		size += s.app[name]
	}
	s.nodes++
	s.configurations += size + perGroup*len(groups)
	s.k8sGroups += s.k8s[n.K8sConfigGroup]
	const tooLarge = "nodes: the %s of the first %d takes %d bytes; want at most %d for all nodes, each with a copy of its groups"
	switch {
	case s.configurations > maxConfigurations:
		d.wrong(tooLarge, "configuration", s.nodes, s.configurations, maxConfigurations)
	case s.k8sGroups > maxK8s:
		d.wrong(tooLarge, "k8sConfigGroup", s.nodes, s.k8sGroups, maxK8s)
	default:
		return true
	}
	return false
}
