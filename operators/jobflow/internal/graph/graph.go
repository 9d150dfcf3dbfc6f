package graph

import (
	"context"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// Graph is all that follows from the spec of a flow alone. It is shared by all passes over a generation, so it must not be changed.
// The nodes are known by their index: those of spec.flows in their order, then those of spec.finally.
type Graph struct {
	edges
	// NumFlows is the number of nodes in spec.flows.
	NumFlows int
	// Names of the nodes, and of their Jobs in the retry that the graph was compiled for.
	Names, JobNames []string
	// Index has the nodes by name, of several with the same name the first; ByJobName has them by the name of their Job.
	Index, ByJobName map[string]int32
	// Whens are the compiled expressions of the nodes that have one.
	Whens map[int32]*when.Expression
	// SuccessWhen is the compiled spec.successWhen; nil if there is none.
	SuccessWhen *when.Expression
	// OutputUses are all pairs of nodes of which one needs the output of the other.
	OutputUses []OutputUse
	// HasReaders has, for each node, whether another one needs its output.
	HasReaders []bool
	// NameHashes are the hashes of the nodes' names, for the record.
	NameHashes []uint32
	// Problems are why the spec can't be carried out; none if it can.
	Problems []Problem

	// The sizes of all expressions in spec.flows and spec.finally together, and the cost of evaluating them.
	whenText, whenSymbols int
	whenCost              uint64
	ctx                   context.Context // set only during Compile; if it ends, the graph is incomplete
}

// OutputUse is a node that needs the output of another.
type OutputUse struct{ Producer, Consumer int32 }

// Node returns a node of a spec by its index.
func Node(spec *v1alpha1.JobFlowSpec, i int) *v1alpha1.Flow {
	if i < len(spec.Flows) {
		return &spec.Flows[i]
	}
	return &spec.Finally[i-len(spec.Flows)]
}

// Compile returns the graph of a flow, whose Jobs have the names of a retry. Its time is linear in nodes and edges. If the context ends, it
// returns early, and the graph must not be used. [Of] does the same once for each generation.
func Compile(ctx context.Context, flow *v1alpha1.JobFlow, retry int32) *Graph {
	spec := &flow.Spec
	n := len(spec.Flows) + len(spec.Finally)
	g := &Graph{
		NumFlows: len(spec.Flows),
		Names:    make([]string, n), JobNames: make([]string, n), NameHashes: make([]uint32, n), HasReaders: make([]bool, n),
		Index: make(map[string]int32, n), ByJobName: make(map[string]int32, n), Whens: map[int32]*when.Expression{},
		ctx: ctx,
	}
	dependencies := 0
	for i := range n {
		node := Node(spec, i)
		g.Names[i] = node.Name
		g.JobNames[i] = JobName(flow.Name, node.Name, retry)
		g.NameHashes[i] = record.HashName(node.Name)
		if _, taken := g.Index[node.Name]; !taken {
			g.Index[node.Name] = int32(i)
		}
		if _, taken := g.ByJobName[g.JobNames[i]]; !taken {
			g.ByJobName[g.JobNames[i]] = int32(i)
		}
		dependencies += len(node.Dependencies)
	}
	g.link(spec, dependencies)
	g.Problems = g.validate(flow)
	for _, u := range g.OutputUses {
		g.HasReaders[u.Producer] = true
	}
	g.ctx = nil
	return g
}

// Size is the number of nodes.
func (g *Graph) Size() int { return len(g.Names) }

// link sets the edges, without dependencies that validation refuses.
func (g *Graph) link(spec *v1alpha1.JobFlowSpec, dependencies int) {
	n := len(g.Names)
	first := make([]int32, n+1)
	to := make([]int32, 0, dependencies)
	for i := range n {
		first[i] = int32(len(to))
		if i >= g.NumFlows {
			continue
		}
		for _, name := range spec.Flows[i].Dependencies {
			if d, ok := g.Index[name]; ok && int(d) != i && int(d) < g.NumFlows {
				to = append(to, d)
			}
		}
	}
	first[n] = int32(len(to))
	g.edges = sorted(first, to)
}
