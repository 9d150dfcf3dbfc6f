package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const two = `# a comment
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels:
    example.com/team: x
data: {a.b: c, a: d}
--- # the second
apiVersion: v1
kind: Secret
base: &base
  one: 1
list:
- x
-   y:
    - z
merged:
  <<: *base
  two: 2
`

func TestPlaces(t *testing.T) {
	docs, err := Parse("f.yaml", []byte(two))
	require.NoError(t, err)
	require.Len(t, docs, 2)
	for _, tt := range []struct {
		doc  int
		path string
		want string
		has  bool
	}{
		{0, "", "f.yaml:2:1", true},
		{0, "kind", "f.yaml:3:1", true},
		{0, "metadata.name", "f.yaml:5:3", true},
		{0, "metadata.labels[example.com/team]", "f.yaml:7:5", true},
		{0, "metadata.labels.example.com/team", "f.yaml:7:5", true},
		{0, "data[a.b]", "f.yaml:8:8", true},
		{0, "data.a", "f.yaml:8:16", true},
		{0, "metadata.namespace", "f.yaml:4:1", false},
		{0, "spec.flows[0]", "f.yaml:2:1", false},
		{1, "kind", "f.yaml:11:1", true},
		{1, "list[0]", "f.yaml:15:3", true},
		{1, "list[1].y[0]", "f.yaml:17:7", true},
		{1, "list[7]", "f.yaml:14:1", false},
		{1, "list[-1]", "f.yaml:14:1", false},
		{1, "merged.one", "f.yaml:13:3", true},
		{1, "merged.two", "f.yaml:20:3", true},
	} {
		assert.Equal(t, tt.want, docs[tt.doc].At(tt.path).String(), tt.path)
		assert.Equal(t, tt.has, docs[tt.doc].Has(tt.path), tt.path)
	}
}

func TestParse(t *testing.T) {
	docs, err := Parse("f", []byte("---\n# nothing\n---\n\n---\nkind: A\n---\n"))
	require.NoError(t, err)
	require.Len(t, docs, 1)
	assert.Equal(t, "f:6:1", docs[0].At("kind").String())

	docs, err = Parse("f", []byte("apiVersion: v1\nkind: List\nitems:\n- kind: A\n- kind: B\n- 3\n"))
	assert.EqualError(t, err, "f:6:3: want an object, which has apiVersion and kind")
	require.Len(t, docs, 2)
	assert.Equal(t, "f:5:3", docs[1].At("kind").String())

	docs, err = Parse("f", []byte("kind: A\na: b: c\n---\n- x\n---\nkind: B\non: yes\n"))
	assert.EqualError(t, err, "f:2:1: not YAML: mapping values are not allowed in this context\nf:4:1: want an object, which has apiVersion and kind")
	require.Len(t, docs, 1, "what can be read is")
	assert.Equal(t, map[string]any{"kind": "B", "true": true}, docs[0].Object.Object, "as kubectl reads it")

	docs, err = Parse("f.json", []byte("{\n\t\"kind\": \"A\",\n\t\"n\": 7\n}\n"))
	require.NoError(t, err)
	assert.Equal(t, int64(7), docs[0].Object.Object["n"])
	assert.Equal(t, 3, docs[0].At("n").Line)

	docs, err = Parse("f", []byte("kind: A\nspec:\n  l:\n  - {a: 1, a: 2}\nkind: B\n"))
	require.NoError(t, err)
	assert.Equal(t, []Field{{Place{"f", 4, 12}, "spec.l[0].a"}, {Place{"f", 5, 1}, "kind"}}, docs[0].Repeated)
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("b.yaml", "kind: B")
	write("a.json", `{"kind": "A"}`)
	write("notes.txt", "no manifest")
	write("below/c.yml", "kind: C")
	kinds := func(docs []*Document) string {
		var b strings.Builder
		for _, d := range docs {
			b.WriteString(d.Object.GetKind())
		}
		return b.String()
	}
	docs, err := Read([]string{dir, "-"}, false, strings.NewReader("kind: D"))
	require.NoError(t, err)
	assert.Equal(t, "ABD", kinds(docs))
	assert.Equal(t, "<stdin>:1:1", docs[2].At("").String())
	docs, err = Read([]string{dir}, true, nil)
	require.NoError(t, err)
	assert.Equal(t, "ABC", kinds(docs))

	docs, err = Read([]string{filepath.Join(dir, "none"), filepath.Join(dir, "b.yaml"), t.TempDir()}, false, nil)
	assert.ErrorContains(t, err, "none: no such file")
	assert.ErrorContains(t, err, "no .json, .yaml or .yml files in this directory; -R looks below it too")
	assert.Equal(t, "B", kinds(docs))
}

// No text makes it panic, and each place is in the text.
// A sparse file costs who made it nothing.
func TestAFileThatIsTooLargeIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yaml")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 1<<40))
	docs, err := Read([]string{path, "-"}, false, strings.NewReader("kind: D"))
	require.ErrorContains(t, err, "large.yaml: it has more than 32 MiB, and isn't read")
	assert.Len(t, docs, 1)
}

func TestAnyText(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a: ", "- ", "\n", "  ", "---\n", "&x ", "*x", "<<: ", "{", "}", "kind: List\n", "items:\n", "[", "\t", "é", "'", "null", "apiVersion: v1\n"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 25).Draw(t, "text"), "")
		lines := strings.Count(text, "\n") + 1
		docs, _ := Parse("f", []byte(text))
		for _, d := range docs {
			for _, path := range []string{"", "a", "items[0].a", "a[0]"} {
				if at := d.At(path); at.Line < 1 || at.Line > lines || at.Column < 1 {
					t.Fatalf("%s is at %v of %q", path, at, text)
				}
			}
		}
	})
}

// go-yaml's parser counts lines from 0, its scanner from 1.
func TestLinesOfSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"kind: A\n---\nkind: B\nmetadata:\n  x: [1\nother: y\n": "f:5:1: not YAML: did not find expected ',' or ']'",
		"kind: A\nmetadata:\n  x: {a: 1\nother: y\n":            "f:3:1: not YAML: did not find expected ',' or '}'",
		"kind: A\nmetadata:\n  name: a\n labels: {}\n":          "f:4:1: not YAML: did not find expected key",
		"kind: A\nmetadata:\n\tname: a\n":                       "f:3:1: not YAML: found character that cannot start any token",
		"kind: A\n  name: a\n":                                  "f:2:1: not YAML: mapping values are not allowed in this context",
		"kind: A\nlist:\n  - a\n  b: c\n":                       "f:3:1: not YAML: did not find expected '-' indicator",
		"kind: A\nb: ]\n":                                       "f:2:1: not YAML: did not find expected node content",
	} {
		_, err := Parse("f", []byte(text))
		assert.EqualError(t, err, want, text)
	}
}
