package manifest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Place is where something stands in a file. Lines and columns begin with 1.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns file:line:column, as compilers and editors write it.
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Compare orders places of a file from its top to its end.
func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.Line, other.Line), cmp.Compare(p.Column, other.Column))
}

// Error is something in a file that can't be read.
type Error struct {
	Place
	Text string
}

// Error returns the place and what is wrong there.
func (e *Error) Error() string { return e.Place.String() + ": " + e.Text }

// At returns the place of a field: of its name, or of an item's value. If there is no such field, it is the place of the
// innermost one around it.
func (d *Document) At(path string) Place {
	at, _ := find(d.node, d.node, path)
	return Place{File: d.File, Line: at.Line + d.before, Column: at.Column}
}

// Has reports whether the text has a field of this path.
func (d *Document) Has(path string) bool {
	_, found := find(d.node, d.node, path)
	return found
}

// find follows a path from a node. Known is where that node was found: a field's place is that of its name.
func find(node, known *yaml.Node, path string) (place *yaml.Node, found bool) {
	if path == "" {
		return known, true
	}
	switch node.Kind {
	case yaml.AliasNode:
		return find(node.Alias, known, path)
	case yaml.SequenceNode:
		if index, rest, ok := cutIndex(path); ok && index < len(node.Content) {
			return find(node.Content[index], node.Content[index], rest)
		}
	case yaml.MappingNode:
		if key, value, rest := longestKey(node, path); key != nil {
			return find(value, key, rest)
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Tag == "!!merge" {
				if place, found := find(node.Content[i+1], known, path); found {
					return place, true
				}
			}
		}
	}
	return known, false
}

// cutIndex takes "[2]" off a path.
func cutIndex(path string) (index int, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(number)
	return index, rest, ok && err == nil && index >= 0
}

// longestKey returns the field of a mapping that a path begins with, its value and the rest of the path. Names may have dots:
// "labels[a.b/c]", "data.a.b".
func longestKey(node *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	dotted := strings.TrimPrefix(path, ".")
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		after, ok := strings.CutPrefix(path, "["+name+"]")
		if !ok {
			after, ok = strings.CutPrefix(dotted, name)
			ok = ok && (after == "" || after[0] == '.' || after[0] == '[')
		}
		if ok && name != "" && (key == nil || len(name) > len(key.Value)) {
			key, value, rest = node.Content[i], node.Content[i+1], after
		}
	}
	return key, value, rest
}
