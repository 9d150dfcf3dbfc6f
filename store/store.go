package store

import (
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Store is a set of keys: what one owner should have. The zero value is empty and ready to use.
// It is not safe for concurrent writes.
type Store struct {
	keys map[Key]struct{}
}

// Put adds a key and reports whether it was new. A key put twice is an object asked for twice.
func (s *Store) Put(k Key) bool {
	s.Grow(1)
	before := len(s.keys)
	s.keys[k] = struct{}{}
	return len(s.keys) > before
}

// Grow makes room for n more keys, to save time when as many are known to come.
func (s *Store) Grow(n int) {
	if s.keys == nil {
		s.keys = make(map[Key]struct{}, n)
	}
}

// Has reports whether the key is wanted.
func (s *Store) Has(k Key) bool {
	_, ok := s.keys[k]
	return ok
}

// Len returns the number of wanted objects.
func (s *Store) Len() int { return len(s.keys) }

// Keys returns all wanted keys, ordered by [Compare].
func (s *Store) Keys() []Key {
	return slices.SortedFunc(maps.Keys(s.keys), Compare)
}

// GroupKinds returns the kinds of all wanted objects.
func (s *Store) GroupKinds() map[schema.GroupKind]bool {
	kinds := make(map[schema.GroupKind]bool)
	for k := range s.keys {
		kinds[k.GroupKind()] = true
	}
	return kinds
}

// Stale returns those of the existing keys that are not wanted, in the order given.
func (s *Store) Stale(existing iter.Seq[Key]) []Key {
	var stale []Key
	for k := range existing {
		if !s.Has(k) {
			stale = append(stale, k)
		}
	}
	return stale
}
