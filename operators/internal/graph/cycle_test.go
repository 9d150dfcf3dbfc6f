package graph

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCycle(t *testing.T) {
	for name, c := range map[string]struct {
		edges map[string][]string
		want  []string
	}{
		"no node":          {},
		"no dependency":    {map[string][]string{"a": nil, "b": nil}, nil},
		"a diamond":        {map[string][]string{"a": nil, "b": {"a"}, "c": {"a"}, "d": {"b", "c"}}, nil},
		"itself":           {map[string][]string{"a": nil, "b": {"a", "b"}}, []string{"b"}},
		"two":              {map[string][]string{"a": {"b"}, "b": {"a"}}, []string{"a", "b"}},
		"behind others":    {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}}, []string{"b", "c", "d"}},
		"before others":    {map[string][]string{"a": nil, "b": {"a", "c"}, "c": {"b"}, "d": {"c"}}, []string{"b", "c"}},
		"the first of two": {map[string][]string{"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes []string
			for n := range c.edges {
				nodes = append(nodes, n)
			}
			slices.Sort(nodes)
			assert.Equal(t, c.want, Cycle(nodes, func(n string) []string { return c.edges[n] }))
		})
	}
}

func TestCycleOfManyNodes(t *testing.T) {
	nodes := make([]int, 10_000)
	for i := range nodes {
		nodes[i] = i
	}
	next := func(i int) []int { return []int{(i + 1) % len(nodes)} }
	assert.Equal(t, nodes, Cycle(nodes, next))
}

func TestDescribeCycle(t *testing.T) {
	assert.Equal(t, "0 -> 0", DescribeCycle([]int{0}, strconv.Itoa))
	assert.Equal(t, "0 -> 1 -> 0", DescribeCycle([]int{0, 1}, strconv.Itoa))
	assert.Equal(t, "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> (2 more) -> 0",
		DescribeCycle([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, strconv.Itoa))
}
