package jobflow

import (
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// graph is a flow's nodes and edges by their index in the spec.
type graph struct {
	// dependencies of each node. Its own name and names that no node has are left out: validation tells of them.
	dependencies [][]int
	// order lists the nodes so that each comes after its dependencies. Nodes in a cycle, and all that come after one,
	// are missing.
	order []int
}

// compile makes the graph of these nodes, in time linear in nodes and edges. Of nodes of the same name the first is meant.
func compile(nodes []v1alpha1.Flow) graph {
	index := make(map[string]int, len(nodes))
	for i := range nodes {
		if _, ok := index[nodes[i].Name]; !ok {
			index[nodes[i].Name] = i
		}
	}
	g := graph{dependencies: make([][]int, len(nodes))}
	for i := range nodes {
		for _, name := range nodes[i].Dependencies {
			if d, ok := index[name]; ok && d != i {
				g.dependencies[i] = append(g.dependencies[i], d)
			}
		}
	}
	g.order = sortTopologically(g.dependencies)
	return g
}

// sortTopologically is Kahn's algorithm.
func sortTopologically(dependencies [][]int) []int {
	waitsFor := make([]int, len(dependencies))
	dependents := make([][]int, len(dependencies))
	order := make([]int, 0, len(dependencies))
	for i, ds := range dependencies {
		waitsFor[i] = len(ds)
		for _, d := range ds {
			dependents[d] = append(dependents[d], i)
		}
		if len(ds) == 0 {
			order = append(order, i)
		}
	}
	for next := 0; next < len(order); next++ {
		for _, i := range dependents[order[next]] {
			if waitsFor[i]--; waitsFor[i] == 0 {
				order = append(order, i)
			}
		}
	}
	return order
}

// cycle returns the nodes of a cycle, each followed by one that it depends on, or nil if there is none.
func (g graph) cycle() []int {
	if len(g.order) == len(g.dependencies) {
		return nil
	}
	stuck := make([]bool, len(g.dependencies))
	for i := range stuck {
		stuck[i] = true
	}
	for _, i := range g.order {
		stuck[i] = false
	}
	// A stuck node depends on a stuck node, so this walk comes around.
	at := slices.Index(stuck, true)
	visited := make([]int, len(stuck)) // 1 + the position on the path
	var path []int
	for visited[at] == 0 {
		path = append(path, at)
		visited[at] = len(path)
		next := slices.IndexFunc(g.dependencies[at], func(d int) bool { return stuck[d] })
		at = g.dependencies[at][next]
	}
	cycle := path[visited[at]-1:]
	// The same cycle is told the same way from wherever it was entered.
	first := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[first:], cycle[:first])
}
