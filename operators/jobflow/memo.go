package jobflow

import (
	"container/list"
	"context"
	"hash/maphash"
	"math/bits"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// maxMemo bounds the memo, in nodes, edges and uses of outputs. A node takes some 300 bytes, so that it can grow to some 150 MB if there
// are many flows of ten thousands of nodes; a flow of ten takes 3 KB.
const maxMemo = 500_000

// memo keeps what specs were compiled to, so that each is compiled once. Compiling is a pure function; whether its result
// is taken from here makes no difference but in time.
type memo struct {
	mu     sync.Mutex
	recent list.List // of *memoEntry, the last used first
	byKey  map[memoKey]*list.Element
	weight int
}

type memoKey struct {
	uid        types.UID
	generation int64
	retry      int32
	sum        uint64 // of what compile reads: a generation is as good as its API server, and tests have many
}

type memoEntry struct {
	key memoKey
	*compiled
}

var compilations = newMemo()

func newMemo() *memo { return &memo{byKey: map[memoKey]*list.Element{}} }

// of returns a flow's spec, compiled.
func (m *memo) of(ctx context.Context, flow *v1alpha1.JobFlow, retry int32) *compiled {
	key := memoKey{flow.UID, flow.Generation, retry, sumOf(flow)}
	if c := m.get(key); c != nil {
		return c
	}
	c := compile(ctx, flow, retry)
	if ctx.Err() == nil { // else it may be incomplete
		m.put(key, c)
	}
	return c
}

func (m *memo) get(key memoKey) *compiled {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byKey[key]
	if e == nil {
		return nil
	}
	m.recent.MoveToFront(e)
	return e.Value.(*memoEntry).compiled
}

func (m *memo) put(key memoKey, c *compiled) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey[key] != nil {
		return // someone else was quicker
	}
	m.byKey[key] = m.recent.PushFront(&memoEntry{key, c})
	m.weight += c.weight()
	for m.weight > maxMemo && m.recent.Len() > 1 {
		m.drop(m.recent.Back())
	}
}

func (m *memo) drop(e *list.Element) {
	entry := m.recent.Remove(e).(*memoEntry)
	delete(m.byKey, entry.key)
	m.weight -= entry.weight()
}

func (c *compiled) weight() int { return 1 + c.size() + len(c.edges) + len(c.uses) }

var seed = maphash.MakeSeed()

// sumOf returns a hash of all that compile looks at, in a fraction of the time that it takes.
func sumOf(flow *v1alpha1.JobFlow) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	text := func(s string) {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0xff) // no string has it
	}
	spec := &flow.Spec
	text(flow.Name)
	text(spec.GlobalParams.NodeName)
	text(spec.SuccessWhen)
	var pairs uint64 // of maps, which have no order
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
		node := nodeOf(spec, i)
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
	return h.Sum64()
}
