package uiserver

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// layered returns a flow of n nodes in layers, of which each depends on a few nodes of the layer before.
func layered(n, layers int) *v1alpha1.JobFlow {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same flow each time
	flow := flowNamed("a", "large", make([]v1alpha1.Flow, n)...)
	width := n / layers
	for i := range flow.Spec.Flows {
		f := &flow.Spec.Flows[i]
		f.Name = fmt.Sprintf("node-%05d", i)
		if layer := i / width; layer > 0 {
			for _, d := range []int{i - width, (layer-1)*width + random.IntN(width)} {
				f.Dependencies = append(f.Dependencies, flow.Spec.Flows[d].Name)
			}
		}
	}
	return flow
}

// Each node is right of what it depends on, in one place of the order, and no two are in the same place of the picture.
func checkShape(t *testing.T, s *shape) {
	t.Helper()
	n := len(s.Names)
	seen, places := make([]bool, n), map[[2]int]bool{}
	for _, i := range s.Order {
		assert.False(t, seen[i])
		seen[i] = true
	}
	assert.Len(t, s.Order, n)
	for l, span := range s.Layers {
		for _, i := range s.Order[span.First : span.First+span.Count] {
			assert.Equal(t, l, s.Layer[i])
		}
	}
	for i := range s.Names {
		place := [2]int{s.X[i], s.Y[i]}
		assert.False(t, places[place], "%s lies upon another", s.Names[i])
		places[place] = true
		assert.GreaterOrEqual(t, s.X[i], 0)
		assert.GreaterOrEqual(t, s.Y[i], 0)
		assert.LessOrEqual(t, s.X[i]+s.NodeWidth, s.Width)
		assert.LessOrEqual(t, s.Y[i]+s.NodeHeight, s.Height)
	}
}

func TestLayout(t *testing.T) {
	flow := flowNamed("a", "f",
		v1alpha1.Flow{Name: "build"},
		v1alpha1.Flow{Name: "test", Dependencies: []string{"build"}, When: "jobs.build.succeeded"},
		v1alpha1.Flow{Name: "scan", Dependencies: []string{"build"}, AllowFailure: true},
		v1alpha1.Flow{Name: "deploy", Dependencies: []string{"test", "scan", "gone"}, ForEach: &v1alpha1.ForEach{}})
	flow.Spec.Finally = []v1alpha1.Flow{{Name: "clean"}}
	s := shapeOf(flow)
	checkShape(t, s)
	assert.Equal(t, []string{"build", "test", "scan", "deploy", "clean", "gone"}, s.Names)
	assert.Equal(t, []int{0, 1, 1, 2, 3, 0}, s.Layer)
	assert.Equal(t, []int{0, flagWhen, flagAllowFailure, flagForEach, flagFinally, flagMissing}, s.Flags)
	assert.Equal(t, []int{0, 1, 0, 2, 1, 3, 2, 3, 5, 3}, s.Edges)
	assert.Equal(t, map[int]string{1: "jobs.build.succeeded"}, s.When)
}

func TestLayoutOfCycles(t *testing.T) {
	s := shapeOf(flowNamed("a", "f",
		v1alpha1.Flow{Name: "a", Dependencies: []string{"c"}}, v1alpha1.Flow{Name: "b", Dependencies: []string{"a"}},
		v1alpha1.Flow{Name: "c", Dependencies: []string{"b"}}, v1alpha1.Flow{Name: "d", Dependencies: []string{"c", "d"}},
		v1alpha1.Flow{Name: "e"}))
	checkShape(t, s)
	assert.Equal(t, []int{0, 1, 2}, s.Layer[:3])
}

func TestLayoutOfAnyGraph(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same graphs each time
		nodes := make([]v1alpha1.Flow, 1+random.IntN(150))
		for i := range nodes {
			nodes[i].Name = fmt.Sprint("n", i)
			for range random.IntN(4) {
				nodes[i].Dependencies = append(nodes[i].Dependencies, fmt.Sprint("n", random.IntN(len(nodes)+1)))
			}
		}
		s := shapeOf(flowNamed("a", "f", nodes...))
		checkShape(t, s)
	}
	for _, flow := range []*v1alpha1.JobFlow{layered(10_000, 100), layered(10_000, 1), layered(3000, 3000)} {
		s := shapeOf(flow)
		checkShape(t, s)
		for e := 0; e < len(s.Edges); e += 2 {
			require.Less(t, s.X[s.Edges[e]]+s.NodeWidth, s.X[s.Edges[e+1]], "an edge goes from left to right")
		}
	}
}

// BenchmarkLayout is of a flow of 10,000 nodes, and of its message.
func BenchmarkLayout(b *testing.B) {
	flow := layered(10_000, 100)
	for b.Loop() {
		s := shapeOf(flow)
		data, err := json.Marshal(s)
		require.NoError(b, err)
		b.ReportMetric(float64(len(data)), "bytes")
	}
}
