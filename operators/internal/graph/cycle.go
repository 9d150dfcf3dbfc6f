package graph

import (
	"fmt"
	"strings"

	"github.com/armature-dev/armature/operators/internal/message"
)

// Cycle returns the nodes of a cycle, each followed by one that it depends on, or nil if there is none. Its time is linear in nodes and
// dependencies, and it is deterministic: the search begins with the first node, and follows dependencies in their order.
func Cycle[N comparable](nodes []N, dependencies func(N) []N) []N {
	const onPath, done = 1, 2
	visited := make(map[N]int, len(nodes))
	var path []N
	var visit func(n N) []N
	visit = func(n N) []N {
		switch visited[n] {
		case done:
			return nil
		case onPath:
			for path[0] != n {
				path = path[1:]
			}
			return path
		}
		visited[n] = onPath
		path = append(path, n)
		for _, d := range dependencies(n) {
			if found := visit(d); found != nil {
				return found
			}
		}
		visited[n], path = done, path[:len(path)-1]
		return nil
	}
	for _, n := range nodes {
		if found := visit(n); found != nil {
			return found
		}
	}
	return nil
}

// DescribeCycle renders "a -> b -> a": a depends on b, which depends on a. Of a long cycle it renders the first few nodes.
func DescribeCycle[N any](cycle []N, name func(N) string) string {
	var names []string
	for i, n := range cycle {
		if i == message.MaxListed {
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)-i))
			break
		}
		names = append(names, name(n))
	}
	return strings.Join(append(names, name(cycle[0])), " -> ")
}
