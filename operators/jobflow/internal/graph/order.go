package graph

import (
	"slices"

	"github.com/armature-dev/armature/operators/internal/graph"
)

// edges are the dependencies between nodes, in flat arrays. Nodes of spec.finally have none.
type edges struct {
	// first[i] is where the dependencies of node i begin in to; they end where those of the next node begin.
	first []int32
	to    []int32
	// Order lists the nodes so that each comes after its dependencies, without the nodes of cycles and all that come after them.
	Order []int32
}

// Dependencies returns the nodes that a node depends on, without those that validation refuses: itself, and unknown names.
func (e *edges) Dependencies(i int) []int32 { return e.to[e.first[i]:e.first[i+1]] }

// HasDependencies reports whether any node depends on another.
func (e *edges) HasDependencies() bool { return len(e.to) > 0 }

func (e *edges) nodes() int { return len(e.first) - 1 }

// sorted returns edges with the order of their nodes, in time linear in nodes and edges.
func sorted(first, to []int32) edges {
	e := edges{first: first, to: to}
	n := e.nodes()

	// The same edges in the other direction, sorted by where they begin.
	until := make([]int32, n+1)
	for _, d := range to {
		until[d+1]++
	}
	for i := range n {
		until[i+1] += until[i]
	}
	dependents := make([]int32, len(to))
	next := slices.Clone(until[:n])
	for i := range n {
		for _, d := range e.Dependencies(i) {
			dependents[next[d]] = int32(i)
			next[d]++
		}
	}

	// Kahn's algorithm.
	waitsFor := make([]int32, n)
	e.Order = make([]int32, 0, n)
	for i := range n {
		if waitsFor[i] = first[i+1] - first[i]; waitsFor[i] == 0 {
			e.Order = append(e.Order, int32(i))
		}
	}
	for at := 0; at < len(e.Order); at++ {
		i := e.Order[at]
		for _, dependent := range dependents[until[i]:until[i+1]] {
			if waitsFor[dependent]--; waitsFor[dependent] == 0 {
				e.Order = append(e.Order, dependent)
			}
		}
	}
	return e
}

// cycle returns the nodes of a cycle, each followed by one that it depends on, or nil if there is none.
func (e *edges) cycle() []int32 {
	if len(e.Order) == e.nodes() {
		return nil
	}
	nodes := make([]int32, e.nodes())
	for i := range nodes {
		nodes[i] = int32(i)
	}
	cycle := graph.Cycle(nodes, func(i int32) []int32 { return e.Dependencies(int(i)) })
	// The same cycle is described the same way wherever the search entered it.
	first := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[first:], cycle[:first])
}
