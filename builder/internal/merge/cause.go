package merge

import (
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// step is one step of a field path in an error of the API server: spec.ports[1].name, data[a.b]. A number in brackets may be an index
// of a list or a key of a map: the value at that position decides.
type step struct {
	name  string
	index int // in a list; -1 if the name is none
}

// wholeObject is the path of a refusal of the whole object, such as by a rule at the root of a custom resource's schema.
const wholeObject = "<nil>"

func stepsOf(path string) []step {
	if path == wholeObject {
		return nil
	}
	var steps []step
	for path != "" {
		switch path[0] {
		case '.':
			path = path[1:]
		case '[':
			in, rest, _ := strings.Cut(path[1:], "]")
			if i, err := strconv.ParseUint(in, 10, 31); err == nil {
				steps = append(steps, step{in, int(i)})
			} else if in != "" {
				steps = append(steps, step{in, -1})
			}
			path = rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps, path = append(steps, step{path[:end], -1}), path[end:]
		}
	}
	return steps
}

// NamesOf returns the names in a field path, without the keys and indexes of list elements. It also omits a key of a map that is a
// number.
func NamesOf(path string) []string {
	var names []string
	for _, s := range stepsOf(path) {
		if s.index < 0 {
			names = append(names, s.name)
		}
	}
	return names
}

// Names returns the names in a path of managed fields, without the keys and indexes of list elements.
func Names(path fieldpath.Path) []string {
	var names []string
	for _, element := range path {
		if element.FieldName != nil {
			names = append(names, *element.FieldName)
		}
	}
	return names
}

func shape(path string) string { return strings.Join(NamesOf(path), ".") }

// mentions reports whether a text contains a word.
func mentions(text, word string) bool {
	isWord := func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) }) {
		if field == word {
			return true
		}
	}
	return false
}
