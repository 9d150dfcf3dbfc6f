// Package sets stands for the real one. The analyzer knows by the names of the methods what they write.
package sets

type Set[T comparable] map[T]struct{}

func New[T comparable](items ...T) Set[T] { return Set[T]{} }

func (s Set[T]) Has(item T) bool {
	_, ok := s[item]
	return ok
}

func (s Set[T]) Insert(items ...T) Set[T] {
	for _, item := range items {
		s[item] = struct{}{}
	}
	return s
}
