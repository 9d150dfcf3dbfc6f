package buildertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// reads is what a process reads in a pass: the present state, or an older one of some kinds.
type reads struct {
	name    string                             // what is missing; empty for the present state
	at      map[schema.GroupVersionKind]uint64 // the version of the kinds that lag
	content search.Hash
}

// versionOf returns the version of a kind that is read, apart from the process's own writes.
func (r reads) versionOf(snap *snapshot) func(schema.GroupVersionKind) uint64 {
	return func(gvk schema.GroupVersionKind) uint64 {
		if v, ok := r.at[gvk]; ok {
			return v
		}
		return snap.version
	}
}

// versions returns the version of each kind that is read.
func (r reads) versions(snap *snapshot) map[schema.GroupVersionKind]uint64 {
	versions := map[schema.GroupVersionKind]uint64{}
	for gvk := range snap.tables {
		versions[gvk] = r.versionOf(snap)(gvk)
	}
	return versions
}

// staleReads returns the older states that a process may read: its caches miss up to Lag changes, of all kinds or of one. They miss no
// change before the process started, none that an earlier pass of the process has read, because a cache never becomes older, and none of
// its own writes (unless LagOwnWrites).
func (e *exploration) staleReads(s *exploredState, process int) []reads {
	if e.bounds.Lag == 0 {
		return nil
	}
	q := s.queues[process]
	floor := func(gvk schema.GroupVersionKind) uint64 {
		if e.scenario.LagOwnWrites {
			return max(q.started, q.seen[gvk])
		}
		return max(q.started, q.seen[gvk], q.wrote[gvk])
	}
	seen := map[search.Hash]bool{e.digests.all(s.server, reads{}.versionOf(s.server)): true}
	var found []reads
	add := func(name string, at map[schema.GroupVersionKind]uint64) {
		r := reads{name: name, at: at}
		r.content = e.digests.all(s.server, r.versionOf(s.server))
		if !seen[r.content] {
			seen[r.content] = true
			found = append(found, r)
		}
	}
	kinds := slices.SortedFunc(maps.Keys(s.server.tables), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	})
	missed := map[schema.GroupVersionKind]int{}
	i := 0
	for _, last := range slices.Backward(s.server.log) {
		if !e.sees(last.gvk) {
			continue
		}
		if i++; i > e.bounds.Lag {
			break
		}
		at := map[schema.GroupVersionKind]uint64{}
		for _, gvk := range kinds {
			at[gvk] = max(last.version-1, floor(gvk))
		}
		add(changes(i, ""), at)
	}
	for _, ch := range slices.Backward(s.server.log) {
		if ch.version <= q.started {
			break
		}
		if !e.sees(ch.gvk) {
			continue
		}
		if missed[ch.gvk]++; missed[ch.gvk] <= e.bounds.Lag {
			add(changes(missed[ch.gvk], " of "+ch.gvk.Kind), map[schema.GroupVersionKind]uint64{ch.gvk: max(ch.version-1, floor(ch.gvk))})
		}
	}
	return found
}

func changes(n int, of string) string {
	if n == 1 {
		return "its cache misses the last change" + of
	}
	return fmt.Sprintf("its cache misses the last %d changes%s", n, of)
}
