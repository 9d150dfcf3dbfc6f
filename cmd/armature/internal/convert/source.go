package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// Note says of a field of an original that it could not be carried over, or not just as it was.
type Note struct {
	manifest.Place
	// Object is the original's kind and name.
	Object string
	Path   string
	Text   string
	// Rename: nothing else than a name differs.
	Rename bool
}

// String returns the note as a line.
func (n Note) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", n.Place, n.Object, n.Path, n.Text)
}

// source is an original, and what has become of its fields.
type source struct {
	doc   *manifest.Document
	taken map[string]bool
	noted map[string]bool
	notes []Note
}

func newSource(doc *manifest.Document) *source {
	return &source{doc: doc, taken: map[string]bool{}, noted: map[string]bool{}}
}

// root is the whole original.
func (s *source) root() field { return field{source: s, value: s.doc.Object.Object} }

// note says something of a place, once.
func (s *source) note(path, format string, args ...any) {
	s.add(false, path, fmt.Sprintf(format, args...))
}

// rename says of a place what its name has become, once.
func (s *source) rename(path, format string, args ...any) {
	s.add(true, path, fmt.Sprintf(format, args...))
}

func (s *source) add(rename bool, path, text string) {
	if s.noted[path+"\n"+text] {
		return
	}
	s.noted[path+"\n"+text] = true
	s.notes = append(s.notes, Note{s.doc.At(path), nameOf(s.doc), path, text, rename})
}

// rest notes all that nothing has been made of, each part as a whole.
func (s *source) rest() {
	s.left(s.root())
	slices.SortStableFunc(s.notes, func(a, b Note) int { return a.Compare(b.Place) })
}

// left notes what is left of a field, and reports whether that is all of it.
func (s *source) left(f field) {
	if s.taken[f.path] {
		return
	}
	if f.path != "" && !s.touched(f.path) {
		s.note(f.path, "not carried over: it has no counterpart")
		return
	}
	for _, child := range f.children() {
		s.left(child)
	}
}

// touched reports whether anything below a path has been taken.
func (s *source) touched(path string) bool {
	for taken := range s.taken {
		if strings.HasPrefix(taken, path+".") || strings.HasPrefix(taken, path+"[") {
			return true
		}
	}
	return false
}

// field is a place in an original, with or without a value.
type field struct {
	source *source
	path   string
	value  any // nil if there is none
}

func (f field) has() bool { return f.value != nil }

// get returns the field of a name.
func (f field) get(names ...string) field {
	for _, name := range names {
		object, _ := f.value.(map[string]any)
		path := name
		switch {
		case strings.ContainsAny(name, "./"):
			path = f.path + "[" + name + "]"
		case f.path != "":
			path = f.path + "." + name
		}
		f = field{f.source, path, object[name]}
	}
	return f
}

// items returns the items of a list.
func (f field) items() []field {
	list, _ := f.value.([]any)
	var items []field
	for i, value := range list {
		items = append(items, field{f.source, fmt.Sprintf("%s[%d]", f.path, i), value})
	}
	return items
}

// keys returns the names of an object's fields, in order.
func (f field) keys() []string {
	object, _ := f.value.(map[string]any)
	var keys []string
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (f field) children() []field {
	all := f.items()
	for _, key := range f.keys() {
		all = append(all, f.get(key))
	}
	return all
}

// take returns a copy of the value: the caller carries it over.
func (f field) take() any {
	if f.has() {
		f.source.taken[f.path] = true
	}
	return runtime.DeepCopyJSONValue(f.value)
}

// takeA takes a value of a type. One of another type is left, so that it is noted.
func takeA[T any](f field) (value T, ok bool) {
	if _, ok = f.value.(T); ok {
		value, _ = f.take().(T)
	}
	return value, ok
}

// text takes a string.
func (f field) text() string {
	text, _ := takeA[string](f)
	return text
}

// object takes an object; it is never nil.
func (f field) object() map[string]any {
	if object, ok := takeA[map[string]any](f); ok {
		return object
	}
	return map[string]any{}
}

// number takes a whole number, of which an absent one is the default.
func (f field) number(otherwise int64) int64 {
	if number, ok := takeA[int64](f); ok {
		return number
	}
	return otherwise
}

// isTrue takes a bool.
func (f field) isTrue() bool {
	value, _ := takeA[bool](f)
	return value
}

// strings takes a list of strings. A list with something else is left, so that it is noted.
func (f field) strings() []string {
	if !f.areTexts() {
		return nil
	}
	var all []string
	for _, item := range f.items() {
		all = append(all, item.text())
	}
	f.take()
	return all
}

// areTexts reports whether the value is a list of strings.
func (f field) areTexts() bool {
	list, ok := f.value.([]any)
	return ok && !slices.ContainsFunc(list, func(item any) bool { _, is := item.(string); return !is })
}

// drop notes why a field is not carried over, if it is there.
func (f field) drop(format string, args ...any) {
	if f.has() {
		f.source.taken[f.path] = true
		f.source.note(f.path, "not carried over: "+format, args...)
	}
}

// sortedKeys returns the keys of a map, in order.
func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// move carries a value over as it is, if there is one.
func (f field) move(to map[string]any, name string) {
	value := f.take()
	if value != nil {
		to[name] = value
	}
}
