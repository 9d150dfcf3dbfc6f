package jobflow

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// maxMemo bounds the memo, in nodes and edges. A node takes some 300 bytes, so that it can grow to some 150 MB if there
// are many flows of ten thousands of nodes; a flow of ten takes 3 KB.
const maxMemo = 500_000

// memo keeps what specs were compiled to. Compiling is a pure function, and the API server gives each spec of an object
// a generation, so whether a result is taken from here makes no difference but in time.
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
}

type memoEntry struct {
	key memoKey
	*compiled
}

var compilations = &memo{byKey: map[memoKey]*list.Element{}}

// of returns a flow's spec, compiled. A flow that no API server has stored has no generation to rely on.
func (m *memo) of(flow *v1alpha1.JobFlow, retry int32) *compiled {
	if flow.ResourceVersion == "" || flow.UID == "" || flow.Generation == 0 {
		return compile(flow, retry)
	}
	key := memoKey{flow.UID, flow.Generation, retry}
	if c := m.get(key); c != nil {
		return c
	}
	c := compile(flow, retry)
	m.put(key, c)
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

func (c *compiled) weight() int { return 1 + c.size() + len(c.edges) }
