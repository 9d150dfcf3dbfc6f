package buildertest

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshot is the state of a server. Nothing changes it: it shares the objects, which are immutable, and copies the rest.
type snapshot struct {
	version uint64
	tables  map[schema.GroupVersionKind]map[types.NamespacedName]history
	log     []change
	numbers int
	now     time.Time
}

// snapshot returns the present state. The caller holds the server's lock, or nobody else uses the server.
func (s *Server) snapshot() *snapshot {
	snap := &snapshot{
		version: s.version, log: slices.Clip(s.log), numbers: s.numbers, now: s.clock.Now(),
		tables: make(map[schema.GroupVersionKind]map[types.NamespacedName]history, len(s.tables)),
	}
	for gvk, table := range s.tables {
		rows := make(map[types.NamespacedName]history, len(table))
		for key, h := range table {
			rows[key] = slices.Clip(*h) // so that an append copies it
		}
		snap.tables[gvk] = rows
	}
	return snap
}

// fork returns a server in the same state, with a record of its own and without indexes. The caller holds the server's lock.
func (s *Server) fork() *Server {
	f := &Server{
		scheme: s.scheme, kinds: s.kinds, crds: s.crds, types: s.types, manual: s.manual, comparable: s.comparable,
		clock: NewClock(), ledger: &Ledger{}, indexes: indexes{}, watchers: map[*watcher]struct{}{},
	}
	f.restore(s.snapshot())
	s.reads.Range(func(key, value any) bool {
		f.reads.Store(key, value)
		return true
	})
	return f
}

// restore returns to a state. Watches don't notice it.
func (s *Server) restore(snap *snapshot) {
	s.version, s.log, s.numbers = snap.version, snap.log, snap.numbers
	s.clock.set(snap.now)
	s.names = map[schema.GroupVersionKind][]types.NamespacedName{}
	s.tables = make(map[schema.GroupVersionKind]map[types.NamespacedName]*history, len(snap.tables))
	for gvk, rows := range snap.tables {
		table := make(map[types.NamespacedName]*history, len(rows))
		for key, h := range rows {
			table[key] = &h
		}
		s.tables[gvk] = table
	}
}

// numberOf returns a number for the UID or the addresses of a new object, or for the suffix of a generated name, which begins with the
// object's name: the next one of the server; or, in a server whose states are compared, one that doesn't depend on the order of
// creations.
func (s *Server) numberOf(obj client.Object, suffix bool) int {
	if !s.comparable {
		s.numbers++
		return s.numbers
	}
	table := s.tables[obj.GetObjectKind().GroupVersionKind()]
	if suffix {
		n := 1
		for key := range table {
			if key.Namespace == obj.GetNamespace() && strings.HasPrefix(key.Name, obj.GetGenerateName()) {
				n++
			}
		}
		return n
	}
	created := 0
	if h := table[keyOf(obj)]; h != nil {
		for i, m := range *h {
			if m.object != nil && (i == 0 || (*h)[i-1].object == nil) {
				created++
			}
		}
	}
	const bits = 40
	hash := fnv.New64a()
	_, _ = fmt.Fprint(hash, obj.GetObjectKind().GroupVersionKind(), keyOf(obj), created)
	return int(hash.Sum64() & (1<<bits - 1))
}
