package graph

import (
	"context"
	"hash/maphash"
	"math/bits"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// maxWeight bounds the cache, in nodes, edges and uses of outputs. A node takes some 300 bytes, so the cache can grow to some 150 MB if
// there are many flows of ten thousands of nodes; a flow of ten takes 3 KB.
const maxWeight = 500_000

// cache has the graphs of specs, so that each spec is compiled once. Compile is a pure function, so the cache only saves time.
type cache struct {
	recent *lru.Cache[key, *Graph]
	mu     sync.Mutex // held while something is added, and for weight
	weight int        // of all in recent
}

type key struct {
	uid        types.UID
	generation int64
	retry      int32
	hash       uint64 // of what Compile reads: different API servers, and tests, use the same UID and generation for different specs
}

var compiled = newCache()

// Of returns the graph of a flow, whose Jobs have the names of a retry. It is [Compile], with a cache.
func Of(ctx context.Context, flow *v1alpha1.JobFlow, retry int32) *Graph {
	return compiled.of(ctx, flow, retry)
}

func newCache() *cache {
	recent, _ := lru.New[key, *Graph](maxWeight) // fails only for a size below 1
	return &cache{recent: recent}
}

func keyOf(flow *v1alpha1.JobFlow, retry int32) key {
	return key{flow.UID, flow.Generation, retry, hashOf(flow)}
}

func (c *cache) of(ctx context.Context, flow *v1alpha1.JobFlow, retry int32) *Graph {
	k := keyOf(flow, retry)
	if g, ok := c.recent.Get(k); ok {
		return g
	}
	g := Compile(ctx, flow, retry)
	if ctx.Err() == nil { // else it may be incomplete
		c.put(k, g) //purity:ignore Compile is pure, so the cache only saves time
	}
	return g
}

func (c *cache) put(k key, g *Graph) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent.Contains(k) {
		return // another pass has compiled it in the meantime
	}
	c.recent.Add(k, g)
	c.weight += g.weight()
	for c.weight > maxWeight && c.recent.Len() > 1 {
		_, dropped, _ := c.recent.RemoveOldest()
		c.weight -= dropped.weight()
	}
}

func (g *Graph) weight() int { return 1 + g.nodes() + len(g.to) + len(g.OutputUses) }

var seed = maphash.MakeSeed() //purity:ignore only keys of the cache depend on it

// hashOf returns a hash of all that Compile reads, in a fraction of its time.
func hashOf(flow *v1alpha1.JobFlow) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	text := func(s string) {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0xff) // not in any string
	}
	spec := &flow.Spec
	text(flow.Name)
	text(spec.GlobalParams.NodeName)
	text(spec.SuccessWhen)
	var pairs uint64 // of maps, whose order is random
	for _, m := range []map[string]string{spec.GlobalParams.Labels, spec.GlobalParams.Annotations} {
		for k, v := range m {
			pairs += maphash.Comparable(seed, [2]string{k, v})
		}
		pairs = bits.RotateLeft64(pairs, 1)
	}
	maphash.WriteComparable(&h, pairs)
	for i := range spec.ShareVolumes {
		text(spec.ShareVolumes[i].Name)
	}
	maphash.WriteComparable(&h, [2]int{len(spec.Flows), len(spec.Finally)})
	for i := range len(spec.Flows) + len(spec.Finally) {
		node := Node(spec, i)
		_ = h.WriteByte(0xfe)
		text(node.Name)
		for _, d := range node.Dependencies {
			text(d)
		}
		_ = h.WriteByte(0xfd)
		text(node.When)
		text(node.JobTemplateRef)
		for j := range node.Inputs {
			text(node.Inputs[j].Env)
			text(node.Inputs[j].From)
		}
		_ = h.WriteByte(0xfc)
		for j := range node.ShareVolumeMounts {
			text(node.ShareVolumeMounts[j].Name)
		}
		if each := node.ForEach; each != nil {
			_ = h.WriteByte(0xfb)
			text(each.FromOutput)
			maphash.WriteComparable(&h, len(each.Items))
			maphash.WriteComparable(&h, each.Items == nil)
		}
		if node.JobTemplate != nil {
			_ = h.WriteByte(0xfa)
			for j := range node.JobTemplate.Template.Spec.Volumes {
				text(node.JobTemplate.Template.Spec.Volumes[j].Name)
			}
		}
	}
	return h.Sum64() //purity:ignore only keys of the cache depend on it
}
