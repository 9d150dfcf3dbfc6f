package graph

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// graphOf returns the graph of some nodes.
func graphOf(nodes ...v1alpha1.Flow) *Graph {
	return Compile(context.Background(), makeFlow(nodes...), 0)
}

func TestCompile(t *testing.T) {
	flow := seedGraph()
	flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	c := Compile(t.Context(), flow, 0)
	assert.Equal(t, []int32{0, 0, 1, 3, 3, 5, 5}, c.first)
	assert.Equal(t, []int32{0, 0, 1, 3, 1}, c.to)
	assert.Equal(t, []int32{0, 3, 5, 1, 2, 4}, c.Order)
	assert.Nil(t, c.cycle())
	assert.Equal(t, []string{"demo-job1", "demo-job2", "demo-job3", "demo-job4", "demo-job5", "demo-last"}, c.JobNames)
	assert.Equal(t, "demo-job2-r3", Compile(t.Context(), flow, 3).JobNames[1])
}

func TestCycle(t *testing.T) {
	tests := map[string]struct {
		nodes []v1alpha1.Flow
		want  []int32
	}{
		"none":                  {[]v1alpha1.Flow{node("a", "b"), node("b")}, nil},
		"two":                   {[]v1alpha1.Flow{node("a", "b"), node("b", "a")}, []int32{0, 1}},
		"behind other nodes":    {[]v1alpha1.Flow{node("after", "x"), node("x", "z"), node("y", "x"), node("z", "root", "y"), node("root")}, []int32{1, 3, 2}},
		"itself doesn't count":  {[]v1alpha1.Flow{node("a", "a")}, nil},
		"unknown names neither": {[]v1alpha1.Flow{node("a", "x")}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, graphOf(tt.nodes...).cycle())
		})
	}
}

func TestOrderOrCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := make([]v1alpha1.Flow, rapid.IntRange(1, 12).Draw(t, "nodes"))
		index := rapid.IntRange(0, len(nodes)-1)
		for i := range nodes {
			nodes[i].Name = fmt.Sprint("n", i)
			for _, d := range rapid.SliceOfNDistinct(index, 0, 3, rapid.ID[int]).Draw(t, "dependencies") {
				nodes[i].Dependencies = append(nodes[i].Dependencies, fmt.Sprint("n", d))
			}
		}
		g := graphOf(nodes...)
		position := map[int]int{}
		for p, i := range g.Order {
			position[int(i)] = p
			for _, d := range g.Dependencies(int(i)) {
				at, before := position[int(d)]
				assert.True(t, before && at < p, "node %d comes before its dependency %d", i, d)
			}
		}
		cycle := g.cycle()
		assert.Equal(t, len(g.Order) == len(nodes), cycle == nil)
		for n, i := range cycle {
			assert.Contains(t, g.Dependencies(int(i)), cycle[(n+1)%len(cycle)])
		}
	})
}
