package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// hostile is a text that moves the cursor, rings, hides a line and turns another round. As YAML's double-quoted text has it.
const hostile = `a\e[2J\a\r\x7f\x9b1A\u202etxt\u2066\u200f\u2028b`

// No command writes to the process's output but by the Cleaner that it is given.
func TestNoCommandWritesPastTheCleaner(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || path == "main.go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := selector.X.(*ast.Ident); ok {
					name := from.Name + "." + selector.Sel.Name
					assert.NotContains(t, []string{"os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println"}, name, path)
				}
			}
			return true
		})
		return nil
	}))
}

// What manifests say reaches no terminal raw, in whatever format, and formats for programs stay what they are.
func TestManifestsControlNoTerminal(t *testing.T) {
	const flow = `{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {name: "` + hostile + `", annotations: {"` + hostile + `": "` + hostile + `"}},
  spec: {flows: [{name: "` + hostile + `", when: "` + hostile + `", jobTemplateRef: "` + hostile + `", dependencies: ["` + hostile + `"]}], "` + hostile + `": 1}}`
	const volcano = `{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: "` + hostile + `", labels: {a: "` + hostile + `"}}, spec: {"` + hostile + `": 1, schedulerName: "` + hostile + `",
  policies: [{event: "` + hostile + `", action: "` + hostile + `"}], tasks: [{name: "` + hostile + `", replicas: 1, template: {spec: {containers: [{name: "` + hostile + `", image: "` + hostile + `"}]}}}]}}`
	const argo = `{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: "` + hostile + `"}, spec: {entrypoint: main, "` + hostile + `": 1,
  templates: [{name: main, dag: {tasks: [{name: "` + hostile + `", template: "` + hostile + `"}]}}, {name: "` + hostile + `", container: {image: "` + hostile + `", args: ["` + hostile + `"]}}]}}`
	printed := 0
	for _, tt := range []struct{ in, args string }{
		{flow, "lint -f -"}, {flow, "lint -f - -o json"}, {flow, "lint -f - -o yaml"},
		{flow, "graph --local -f -"}, {flow, "graph --local -f - -o svg"}, {flow, "graph --local -f - -o dot"}, {flow, "graph --local -f - -o mermaid"},
		{volcano, "convert -f -"}, {volcano, "convert -f - -o json"}, {argo, "convert -f -"}, {argo, "convert -f - -o json"},
		{hostileText(t), "lint -f -"}, {hostileText(t), "convert -f -"}, {"", "lint -f " + hostileText(t)}, {"", hostileText(t)},
	} {
		t.Run(strings.ToValidUTF8(tt.args, "?"), func(t *testing.T) {
			root := newCommand()
			var out, errs bytes.Buffer
			cleanOut, cleanErrs := output.Clean(&out), output.Clean(&errs)
			root.SetOut(cleanOut)
			root.SetErr(cleanErrs)
			root.SetIn(strings.NewReader(tt.in))
			root.SetArgs(strings.Split(tt.args, " "))
			if err := root.ExecuteContext(t.Context()); err != nil {
				_, _ = io.WriteString(cleanErrs, err.Error()) // as main does
			}
			printed += out.Len() + errs.Len()
			for _, r := range out.String() + errs.String() {
				require.False(t, r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)), "%U in %q", r, out.String()+errs.String())
			}
			switch {
			case strings.HasSuffix(tt.args, "svg"):
				for decoder := xml.NewDecoder(&out); ; {
					_, err := decoder.Token()
					if errors.Is(err, io.EOF) {
						break
					}
					require.NoError(t, err)
				}
			case strings.Contains(tt.args, "-o json"), strings.Contains(tt.args, "-o yaml"):
				require.NoError(t, yaml.Unmarshal(out.Bytes(), new(any)), "%q", out.String())
			}
		})
	}
	assert.Positive(t, printed)
}

// hostileText is hostile, unquoted.
func hostileText(t *testing.T) string {
	t.Helper()
	var text string
	require.NoError(t, yaml.Unmarshal([]byte(`"`+hostile+`"`), &text))
	require.Contains(t, text, "\x1b")
	return text
}
