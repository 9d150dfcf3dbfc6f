package graphcmd

import (
	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
)

// graph is a flow as it is drawn.
type graph struct {
	name  string
	nodes []node
}

// node is a flow of a JobFlow.
type node struct {
	name    string
	state   v1alpha1.FlowState
	when    string
	each    bool  // a Job an item
	mayFail bool  // its failure doesn't fail the flow
	after   []int // what it depends on
	finally bool
	layer   int // the longest way from a node without dependencies; finally is behind all
}

// newGraph reads a flow. Dependencies that no node has, and those that close a cycle, are in the picture all the same.
func newGraph(flow *v1alpha1.JobFlow) graph {
	g := graph{name: flow.Name}
	index := map[string]int{}
	states := flowstate.Of(flow)
	add := func(f *v1alpha1.Flow, finally bool) {
		if _, ok := index[f.Name]; !ok {
			index[f.Name] = len(g.nodes)
		}
		g.nodes = append(g.nodes, node{
			name: f.Name, state: states[len(g.nodes)].State, when: f.When,
			each: f.ForEach != nil, mayFail: f.AllowFailure, finally: finally,
		})
	}
	for i := range flow.Spec.Flows {
		add(&flow.Spec.Flows[i], false)
	}
	for i := range flow.Spec.Finally {
		add(&flow.Spec.Finally[i], true)
	}
	for i := range flow.Spec.Flows {
		for _, name := range flow.Spec.Flows[i].Dependencies {
			d, ok := index[name]
			if !ok {
				d = len(g.nodes)
				index[name] = d
				g.nodes = append(g.nodes, node{name: name, state: "Missing"})
			}
			g.nodes[i].after = append(g.nodes[i].after, d)
		}
	}
	g.setLayers()
	return g
}

// setLayers puts each node behind what it depends on. A cycle is cut where it is met.
func (g graph) setLayers() {
	const unseen, open, done = 0, 1, 2
	seen := make([]int, len(g.nodes))
	last := 0
	var visit func(i int) int
	visit = func(i int) int {
		n := &g.nodes[i]
		if seen[i] != unseen {
			return n.layer
		}
		seen[i] = open
		for _, d := range n.after {
			if seen[d] != open {
				n.layer = max(n.layer, visit(d)+1)
			}
		}
		seen[i] = done
		last = max(last, n.layer)
		return n.layer
	}
	for i := range g.nodes {
		visit(i)
	}
	for i := range g.nodes {
		if g.nodes[i].finally {
			g.nodes[i].layer = last + 1
		}
	}
}

// label is what is written on a node, line by line.
func (n node) label() []string {
	lines := []string{n.name}
	if n.each {
		lines[0] += " (for each)"
	}
	if n.when != "" {
		lines = append(lines, "when "+shorten(n.when, 40))
	}
	if n.mayFail {
		lines = append(lines, "may fail")
	}
	return lines
}

func shorten(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// colours of the states: the background, and the border.
func colours(state v1alpha1.FlowState) (fill, stroke string) {
	switch state {
	case v1alpha1.FlowSucceed:
		return "#d4edda", "#2e7d32"
	case v1alpha1.FlowFailed:
		return "#f8d7da", "#c62828"
	case v1alpha1.FlowRunning:
		return "#cfe2ff", "#1565c0"
	case v1alpha1.FlowSkipped:
		return "#eeeeee", "#9e9e9e"
	case "Missing":
		return "#fff3cd", "#c62828"
	default:
		return "#ffffff", "#616161"
	}
}
