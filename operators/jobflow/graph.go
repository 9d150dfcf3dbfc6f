package jobflow

import (
	"slices"
)

// graph is a flow's nodes and edges by index, in flat arrays: the nodes of spec.flows in their order, then those of
// spec.finally, which have no edges.
type graph struct {
	// first[i] is where the dependencies of node i begin in edges; they end where those of the next begin.
	first []int32
	edges []int32
	// order lists the nodes so that each comes after its dependencies. Nodes in a cycle, and all that come after one,
	// are missing.
	order []int32
}

// dependencies returns the nodes that a node depends on. Its own name and names that no node has are left out:
// validation tells of them.
func (g *graph) dependencies(i int) []int32 { return g.edges[g.first[i]:g.first[i+1]] }

// size is the number of nodes.
func (g *graph) size() int { return len(g.first) - 1 }

// newGraph makes a graph of nodes whose dependencies are given one node after another, and sorts it. Time is linear in
// nodes and edges.
func newGraph(first, edges []int32) graph {
	g := graph{first: first, edges: edges}
	n := g.size()

	// The same edges the other way round, sorted by where they begin.
	until := make([]int32, n+1)
	for _, d := range edges {
		until[d+1]++
	}
	for i := range n {
		until[i+1] += until[i]
	}
	dependents := make([]int32, len(edges))
	next := slices.Clone(until[:n])
	for i := range n {
		for _, d := range g.dependencies(i) {
			dependents[next[d]] = int32(i)
			next[d]++
		}
	}

	// Kahn's algorithm.
	waitsFor := make([]int32, n)
	g.order = make([]int32, 0, n)
	for i := range n {
		if waitsFor[i] = first[i+1] - first[i]; waitsFor[i] == 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for at := 0; at < len(g.order); at++ {
		i := g.order[at]
		for _, dependent := range dependents[until[i]:until[i+1]] {
			if waitsFor[dependent]--; waitsFor[dependent] == 0 {
				g.order = append(g.order, dependent)
			}
		}
	}
	return g
}

// cycle returns the nodes of a cycle, each followed by one that it depends on, or nil if there is none.
func (g *graph) cycle() []int {
	if len(g.order) == g.size() {
		return nil
	}
	stuck := make([]bool, g.size())
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
		for _, d := range g.dependencies(at) {
			if stuck[d] {
				at = int(d)
				break
			}
		}
	}
	cycle := path[visited[at]-1:]
	// The same cycle is told the same way from wherever it was entered.
	first := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[first:], cycle[:first])
}
