package jobflow

import (
	"context"
	"hash/fnv"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// compiled is what follows from a spec alone. It is made once a generation and shared, so it is never changed.
type compiled struct {
	graph
	// flows is how many of the nodes are in spec.flows. Those behind them are in spec.finally.
	flows int
	// names of the nodes, and of their Jobs in the retry that this was made for.
	names, jobs []string
	// index has the nodes by name, of namesakes the first; byJob has them by the name of their Job.
	index, byJob map[string]int32
	// whens are the expressions of the nodes that have one.
	whens map[int32]*when.Expression
	// whenText and whenSymbols are how long the expressions are together, whenCost is what evaluating all of them may cost.
	whenText, whenSymbols int
	whenCost              uint64
	// success is successWhen, nil if there is none.
	success *when.Expression
	// uses are which nodes need which nodes' outputs.
	uses []use
	// puts says whether a node's output is needed.
	puts []bool
	// hashes of the nodes' names, for marks.
	hashes []uint32
	// problems are what keeps the spec from being carried out.
	problems []problem

	ctx context.Context // while it is made; if that ends, it is incomplete
}

// use says that a node needs the output of another.
type use struct{ producer, consumer int32 }

// nodeOf returns a node of a spec by its index.
func nodeOf(spec *v1alpha1.JobFlowSpec, i int) *v1alpha1.Flow {
	if i < len(spec.Flows) {
		return &spec.Flows[i]
	}
	return &spec.Finally[i-len(spec.Flows)]
}

// compile makes what there is to know of a spec before anything runs, in time linear in nodes and edges. If the context ends it
// returns early, with something that nobody may use.
func compile(ctx context.Context, flow *v1alpha1.JobFlow, retry int32) *compiled {
	spec := &flow.Spec
	n := len(spec.Flows) + len(spec.Finally)
	c := &compiled{
		flows: len(spec.Flows),
		names: make([]string, n), jobs: make([]string, n), hashes: make([]uint32, n), puts: make([]bool, n),
		index: make(map[string]int32, n), byJob: make(map[string]int32, n), whens: map[int32]*when.Expression{},
		ctx: ctx,
	}
	edges := 0
	for i := range n {
		node := nodeOf(spec, i)
		c.names[i] = node.Name
		c.jobs[i] = jobNameOf(flow.Name, node.Name, retry)
		c.hashes[i] = nameHash(node.Name)
		if _, taken := c.index[node.Name]; !taken {
			c.index[node.Name] = int32(i)
		}
		if _, taken := c.byJob[c.jobs[i]]; !taken {
			c.byJob[c.jobs[i]] = int32(i)
		}
		edges += len(node.Dependencies)
	}
	c.link(spec, edges)
	c.problems = c.validate(flow)
	for _, u := range c.uses {
		c.puts[u.producer] = true
	}
	c.ctx = nil
	return c
}

// link makes the graph. Dependencies that validation refuses are left out.
func (c *compiled) link(spec *v1alpha1.JobFlowSpec, edges int) {
	n := len(c.names)
	first := make([]int32, n+1)
	to := make([]int32, 0, edges)
	for i := range n {
		first[i] = int32(len(to))
		if i >= c.flows {
			continue
		}
		for _, name := range spec.Flows[i].Dependencies {
			if d, ok := c.index[name]; ok && int(d) != i && int(d) < c.flows {
				to = append(to, d)
			}
		}
	}
	first[n] = int32(len(to))
	c.graph = newGraph(first, to)
}

// nameHash tells names apart.
func nameHash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return mix(h.Sum32())
}

// mix spreads a hash over all of its bits: FNV's first ones hardly differ between names that differ in their last letter.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
