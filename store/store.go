package store

import (
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Store is a set of keys: the desired objects of one owner. The zero value is empty and ready to use.
// It is not safe for concurrent writes.
type Store struct {
	keys map[Key]struct{}
}

// Put adds a key and reports whether it was new. A key that isn't new means that the pass desires an object twice.
func (s *Store) Put(k Key) bool {
	s.Grow(1)
	before := len(s.keys)
	s.keys[k] = struct{}{}
	return len(s.keys) > before
}

// Grow allocates space for n keys, if the Store is empty.
func (s *Store) Grow(n int) {
	if s.keys == nil {
		s.keys = make(map[Key]struct{}, n)
	}
}

// Has reports whether the object is desired.
func (s *Store) Has(k Key) bool {
	_, ok := s.keys[k]
	return ok
}

// Len returns the number of desired objects.
func (s *Store) Len() int { return len(s.keys) }

// Keys returns the keys of all desired objects, ordered by [Compare].
func (s *Store) Keys() []Key {
	return slices.SortedFunc(maps.Keys(s.keys), Compare)
}

// GroupKinds returns the kinds of all desired objects.
func (s *Store) GroupKinds() map[schema.GroupKind]bool {
	kinds := make(map[schema.GroupKind]bool)
	for k := range s.keys {
		kinds[k.GroupKind()] = true
	}
	return kinds
}

// Stale returns the existing keys that are not desired, in the order given.
func (s *Store) Stale(existing iter.Seq[Key]) []Key {
	if existing == nil {
		return nil
	}
	var stale []Key
	for k := range existing {
		if !s.Has(k) {
			stale = append(stale, k)
		}
	}
	return stale
}
