package scaling

import (
	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/dsoi"
)

// entryNames finds the entries for a node. An entry names a node or its workload, and a Scaling may have a thousand.
type entryNames struct {
	cluster string
	names   map[string]bool
	nodes   map[string]string // by the workload that the node of this name has
}

func newEntryNames(cluster string) entryNames {
	return entryNames{cluster: cluster, names: map[string]bool{}, nodes: map[string]string{}}
}

// namesOf returns the names of all entries.
func namesOf(cluster string, entries []v1beta1.NodeScaling) entryNames {
	n := newEntryNames(cluster)
	for i := range entries {
		n.add(entries[i].Name)
	}
	return n
}

func (n entryNames) add(name string) {
	n.names[name] = true
	n.nodes[dsoi.WorkloadName(n.cluster, name)] = name
}

// of returns the entries for the same node as one of this name.
func (n entryNames) of(name string) (entries []string) {
	if n.names[name] {
		entries = append(entries, name)
	}
	if workload := dsoi.WorkloadName(n.cluster, name); n.names[workload] {
		entries = append(entries, workload)
	}
	if node, ok := n.nodes[name]; ok {
		entries = append(entries, node)
	}
	return entries
}
