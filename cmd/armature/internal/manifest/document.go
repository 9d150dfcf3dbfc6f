package manifest

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"
)

// Document is one object of a file.
type Document struct {
	// File is the file's name as it was given; "-" is called <stdin>.
	File string
	// Object is what kubectl would send.
	Object *unstructured.Unstructured
	// Repeated are the fields that the text has twice, in their later places. The object has their last values.
	Repeated []Field

	node   *yaml.Node
	before int // lines of the file before the document's text
}

// Twice is the finding of a repeated field.
const Twice = "the field is here twice; this value counts, the former doesn't"

// Field is a field and where it stands.
type Field struct {
	Place
	Path string
}

// Parse reads all documents of a file, and the items of its Lists. What it can't read are *Errors, joined; the other documents
// are returned all the same.
func Parse(file string, text []byte) ([]*Document, error) {
	var all []*Document
	var errs []error
	for _, chunk := range split(string(text)) {
		docs, err := parse(file, chunk)
		if err != nil {
			errs = append(errs, err)
		}
		all = append(all, docs...)
	}
	return all, errors.Join(errs...)
}

// chunk is the text of one document, and the number of lines before it.
type chunk struct {
	text   string
	before int
}

// split cuts a text at lines of "---", as kubectl does.
func split(text string) []chunk {
	var all []chunk
	current := chunk{}
	var b strings.Builder
	next := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		next++
		if rest, ok := strings.CutPrefix(strings.TrimRight(line, " \t\r\n"), "---"); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			current.text = b.String()
			all = append(all, current)
			b.Reset()
			current = chunk{before: next - 1} // the separator's own line belongs to what follows it
			b.WriteString(rest + "\n")
			continue
		}
		b.WriteString(line)
	}
	current.text = b.String()
	return append(all, current)
}

func parse(file string, c chunk) ([]*Document, error) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(c.text), &root); err != nil {
		return nil, unreadable(file, c, err)
	}
	if root.Kind == 0 || len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return nil, nil // nothing but comments
	}
	node := root.Content[0]
	at := Place{File: file, Line: node.Line + c.before, Column: node.Column}
	if node.Kind != yaml.MappingNode {
		return nil, &Error{at, "want an object, which has apiVersion and kind"}
	}
	text, err := kyaml.YAMLToJSON([]byte(c.text))
	if err != nil {
		return nil, unreadable(file, c, err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, &Error{at, err.Error()}
	}
	doc := &Document{File: file, Object: &unstructured.Unstructured{Object: object}, node: node, before: c.before}
	if object["kind"] == "List" && object["apiVersion"] == "v1" {
		return doc.items()
	}
	doc.Repeated = doc.repeated(node)
	return []*Document{doc}, nil
}

// items returns the objects of a List.
func (d *Document) items() ([]*Document, error) {
	var all []*Document
	var errs []error
	list, _ := d.Object.Object["items"].([]any)
	nodes := valueOf(d.node, "items")
	for i, item := range list {
		object, ok := item.(map[string]any)
		if !ok || nodes == nil || i >= len(nodes.Content) {
			errs = append(errs, &Error{d.At(fmt.Sprintf("items[%d]", i)), "want an object, which has apiVersion and kind"})
			continue
		}
		node := nodes.Content[i]
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		doc := &Document{File: d.File, Object: &unstructured.Unstructured{Object: object}, node: node, before: d.before}
		doc.Repeated = doc.repeated(node)
		all = append(all, doc)
	}
	return all, errors.Join(errs...)
}

// valueOf returns the value of a mapping's field.
func valueOf(node *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// repeated finds the fields that a mapping has twice. A server never sees them, since JSON is made of the text before.
func (d *Document) repeated(node *yaml.Node) []Field {
	var found []Field
	d.walk(node, nil, func(name *yaml.Node, path []string) {
		at := strings.TrimPrefix(strings.Join(path, ""), ".")
		found = append(found, Field{Place{File: d.File, Line: name.Line + d.before, Column: name.Column}, at})
	})
	return found
}

// walk calls a function for each field that a mapping has twice, with the parts of its path. Only such a field needs the whole path: those
// of all levels of a deep document would be long.
func (d *Document) walk(node *yaml.Node, path []string, repeated func(name *yaml.Node, path []string)) {
	seen := map[string]bool{}
	path = append(path, "")
	last := &path[len(path)-1]
	for i, child := range node.Content {
		switch {
		case node.Kind == yaml.SequenceNode:
			*last = fmt.Sprintf("[%d]", i)
			d.walk(child, path, repeated)
		case node.Kind == yaml.MappingNode && i%2 == 1:
			name := node.Content[i-1]
			*last = "." + name.Value
			if seen[name.Value] {
				repeated(name, path)
			}
			seen[name.Value] = name.Tag != "!!merge"
			d.walk(child, path, repeated)
		}
	}
}

var lineInError = regexp.MustCompile(`^line (\d+): `)

// lineBefore matches the errors that go-yaml reports one line above their place: those of its parser; its scanner counts right.
var lineBefore = regexp.MustCompile(
	`^(did not find expected (<document start>|node content|key$|'-' indicator|',' or )|found undefined tag handle)`)

// unreadable gives a parser's error its place.
func unreadable(file string, c chunk, err error) *Error {
	text, _ := strings.CutPrefix(err.Error(), "error converting YAML to JSON: ")
	text = strings.TrimPrefix(text, "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	line := 1
	if found := lineInError.FindStringSubmatch(text); found != nil {
		line, _ = strconv.Atoi(found[1])
		text = strings.TrimPrefix(text, found[0])
		if lineBefore.MatchString(text) {
			line++
		}
	}
	return &Error{Place{File: file, Line: line + c.before, Column: 1}, "not YAML: " + text}
}
