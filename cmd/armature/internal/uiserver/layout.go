package uiserver

import (
	"cmp"
	"math"
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Sizes in the picture, in CSS pixels.
const (
	nodeWidth, nodeHeight = 160, 36
	gapInLayer            = 12 // between the nodes of a layer
	gapOfLayers           = 80 // between layers, for the edges
	minRows               = 40 // a layer of more nodes than the rows goes on in the next column
)

// Flags of a node.
const (
	flagFinally = 1 << iota
	flagForEach
	flagAllowFailure
	flagWhen
	flagMissing
)

// shape is a flow's graph with a place for each node. Its columns are as long as the flow has nodes, so that it stays small.
type shape struct {
	Names []string `json:"names"`
	Layer []int    `json:"layer"`
	X     []int    `json:"x"`
	Y     []int    `json:"y"`
	Flags []int    `json:"flags"`
	// Edges are pairs of indexes: from, to.
	Edges  []int       `json:"edges"`
	Layers []layerSpan `json:"layers"`
	// Order has the indexes layer by layer, from top to bottom.
	Order      []int          `json:"order"`
	Width      int            `json:"width"`
	Height     int            `json:"height"`
	NodeWidth  int            `json:"nodeWidth"`
	NodeHeight int            `json:"nodeHeight"`
	When       map[int]string `json:"when,omitempty"`
}

// layerSpan says which part of the order a layer is, and where it begins.
type layerSpan struct {
	First int `json:"first"`
	Count int `json:"count"`
	X     int `json:"x"`
}

// shapeOf reads a flow, and lays it out from left to right: each node behind what it depends on, finally behind all. It takes time in
// proportion to nodes and dependencies, but for sorting the nodes of each layer.
func shapeOf(flow *v1alpha1.JobFlow) *shape {
	s := &shape{NodeWidth: nodeWidth, NodeHeight: nodeHeight, When: map[int]string{}, Edges: []int{}}
	index := make(map[string]int, len(flow.Spec.Flows)+len(flow.Spec.Finally))
	add := func(f *v1alpha1.Flow, flags int) {
		i := len(s.Names)
		if _, ok := index[f.Name]; !ok {
			index[f.Name] = i
		}
		if f.ForEach != nil {
			flags |= flagForEach
		}
		if f.AllowFailure {
			flags |= flagAllowFailure
		}
		if f.When != "" {
			flags |= flagWhen
			s.When[i] = f.When
		}
		s.Names, s.Flags = append(s.Names, f.Name), append(s.Flags, flags)
	}
	for i := range flow.Spec.Flows {
		add(&flow.Spec.Flows[i], 0)
	}
	for i := range flow.Spec.Finally {
		add(&flow.Spec.Finally[i], flagFinally)
	}
	for i := range flow.Spec.Flows {
		for _, name := range flow.Spec.Flows[i].Dependencies {
			d, ok := index[name]
			if !ok {
				d = len(s.Names)
				index[name] = d
				s.Names, s.Flags = append(s.Names, name), append(s.Flags, flagMissing)
			}
			s.Edges = append(s.Edges, d, i)
		}
	}
	s.setLayers()
	s.arrange()
	s.place()
	return s
}

// adjacency lists, for each node, the other ends of its edges: those before it, or those behind it.
func (s *shape) adjacency(behind bool) [][]int {
	counts := make([]int, len(s.Names))
	at, other := 1, 0
	if behind {
		at, other = 0, 1
	}
	for e := 0; e < len(s.Edges); e += 2 {
		counts[s.Edges[e+at]]++
	}
	all, lists := make([]int, 0, len(s.Edges)/2), make([][]int, len(s.Names))
	for i, n := range counts {
		lists[i] = all[len(all) : len(all) : len(all)+n]
		all = all[:len(all)+n]
	}
	for e := 0; e < len(s.Edges); e += 2 {
		i := s.Edges[e+at]
		lists[i] = append(lists[i], s.Edges[e+other])
	}
	return lists
}

// setLayers gives each node the length of the longest way to it. Nodes of a cycle, which an invalid spec can have, come behind those
// of their dependencies that are known.
func (s *shape) setLayers() {
	n := len(s.Names)
	s.Layer = make([]int, n)
	behind, open := s.adjacency(true), make([]int, n)
	for e := 1; e < len(s.Edges); e += 2 {
		open[s.Edges[e]]++
	}
	done, queue := make([]bool, n), make([]int, 0, n)
	for i, left := range open {
		if left == 0 {
			queue = append(queue, i)
		}
	}
	last, next := 0, 0
	for taken := 0; taken < n; {
		if len(queue) == taken { // the rest is a cycle, or behind one: cut it at its first node
			for done[next] || open[next] == 0 {
				next++
			}
			open[next] = 0
			queue = append(queue, next)
		}
		i := queue[taken]
		taken++
		done[i] = true
		last = max(last, s.Layer[i])
		for _, d := range behind[i] {
			if done[d] || open[d] == 0 {
				continue
			}
			s.Layer[d] = max(s.Layer[d], s.Layer[i]+1)
			if open[d]--; open[d] == 0 {
				queue = append(queue, d)
			}
		}
	}
	for i, flags := range s.Flags {
		if flags&flagFinally != 0 {
			s.Layer[i] = last + 1
		}
	}
}

// arrange orders the nodes of each layer by the mean height of what they depend on, so that few edges cross.
func (s *shape) arrange() {
	layers := 0
	for _, l := range s.Layer {
		layers = max(layers, l+1)
	}
	s.Layers = make([]layerSpan, layers)
	for _, l := range s.Layer {
		s.Layers[l].Count++
	}
	for l := 1; l < layers; l++ {
		s.Layers[l].First = s.Layers[l-1].First + s.Layers[l-1].Count
	}
	s.Order = make([]int, len(s.Names))
	filled := make([]int, layers)
	for i, l := range s.Layer {
		s.Order[s.Layers[l].First+filled[l]] = i
		filled[l]++
	}
	before, height := s.adjacency(false), make([]float64, len(s.Names))
	for l, span := range s.Layers {
		of := s.Order[span.First : span.First+span.Count]
		if l > 0 {
			for _, i := range of {
				sum := 0.0
				for _, d := range before[i] {
					sum += height[d]
				}
				height[i] = sum / float64(max(1, len(before[i])))
			}
			slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(height[a], height[b]) })
		}
		for k, i := range of {
			height[i] = (float64(k) + 0.5) / float64(span.Count)
		}
	}
}

// place gives each node its coordinates. A layer with many nodes has several columns, so that the picture stays as wide as it is high.
func (s *shape) place() {
	n := len(s.Names)
	s.X, s.Y = make([]int, n), make([]int, n)
	rows := max(minRows, int(math.Sqrt(float64(n)*nodeWidth/nodeHeight)))
	tallest := 0
	for _, span := range s.Layers {
		tallest = max(tallest, min(span.Count, rows))
	}
	const stepX, stepY = nodeWidth + gapInLayer, nodeHeight + gapInLayer
	x := 0
	for l := range s.Layers {
		span := &s.Layers[l]
		span.X = x
		columns := (span.Count + rows - 1) / rows
		high := (span.Count + columns - 1) / max(1, columns)
		top := (tallest - high) * stepY / 2
		for k, i := range s.Order[span.First : span.First+span.Count] {
			s.X[i], s.Y[i] = x+k/high*stepX, top+k%high*stepY
		}
		x += columns*stepX - gapInLayer + gapOfLayers
	}
	s.Width, s.Height = max(0, x-gapOfLayers), max(0, tallest*stepY-gapInLayer)
}
