package record

import (
	"bytes"
	"fmt"
	"go/format"
	"io"
	"strings"
	"text/template"
	"unicode"
)

// GoTest describes a Go test of a recorded pass.
type GoTest struct {
	// Package is the package of the test. Default: incident.
	Package string
	// Imports are the import paths of the packages that Operator and Scheme name. To import one under another name, write it before the
	// path, with a space.
	Imports []string
	// Operator is the Go expression of the operator without a manager: webapp.Operator(nil).
	Operator string
	// Scheme is the Go expression of the scheme: webapp.Scheme().
	Scheme string
	// Pass is the recorded pass.
	Pass *Pass
}

// Write writes the test. It runs the operator's plan for the recorded owner and view. It fails if the plan is invalid, as it was in an
// incident whose plan was, and if the plan differs from the recorded one. If the recorded plan is the mistake, correct it in the test,
// which fails until the operator does so too.
func (g GoTest) Write(w io.Writer) error {
	if g.Pass.Plan == nil && g.Pass.PlanError == "" {
		return fmt.Errorf("the pass over %s failed before its plan: %s", g.Pass.OwnerName(), g.Pass.Error)
	}
	var file bytes.Buffer
	if err := (&List{Items: []Pass{*g.Pass}}).Write(&file); err != nil {
		return err
	}
	if g.Package == "" {
		g.Package = "incident"
	}
	var imports []string
	for _, path := range g.Imports {
		name, path, named := strings.Cut(path, " ")
		if !named {
			name, path = "", name
		}
		imports = append(imports, fmt.Sprintf("%s %q", name, path))
	}
	var code bytes.Buffer
	if err := goTest.Execute(&code, map[string]any{
		"Test": g, "Name": camel(g.Pass.OwnerName()), "Imports": imports, "At": g.Pass.View.Time,
		"Record": strings.ReplaceAll(file.String(), "`", "` + \"`\" + `"), "Comment": strings.ReplaceAll(g.Pass.PlanError, "\n", "\n// "),
	}); err != nil {
		return err
	}
	formatted, err := format.Source([]byte(notInGo.Replace(code.String())))
	if err != nil {
		return fmt.Errorf("the expressions of the operator and the scheme must be Go: %w", err)
	}
	_, err = w.Write(formatted)
	return err
}

// notInGo escapes the characters that Go's source can't have, not even in a string or a comment. In the record they are in strings of JSON,
// which has the first escape, and never has a NUL as it is.
var notInGo = strings.NewReplacer("\ufeff", `\ufeff`, "\x00", `\x00`)

// camel returns the words of a text as one Go name.
func camel(text string) string {
	var name strings.Builder
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

var goTest = template.Must(template.New("").Parse(`package {{.Test.Package}}

import (
	"strings"
	"testing"

{{range .Imports}}	{{.}}
{{end}}	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
)

// The pass over {{.Test.Pass.OwnerName}} at {{.At}}.
{{- if .Comment}}
// Its plan was invalid, and this test fails until it is valid:
//
// {{.Comment}}
{{- end}}
func Test{{.Name}}(t *testing.T) {
	list, err := record.Read(strings.NewReader(recorded))
	if err != nil {
		t.Fatal(err)
	}
	pass, operator, scheme := &list.Items[0], {{.Test.Operator}}, {{.Test.Scheme}}
	owner, view, err := record.Input(operator, scheme, pass)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := buildertest.PlanFor(operator, owner, view)
	if err != nil {
		t.Fatal(err)
	}
{{- if not .Comment}}
	// The plan of the incident. If it is the mistake, correct it below: the test then fails until the operator is corrected.
	replayed, err := record.Compare(scheme, pass, view, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range replayed.Differences {
		t.Errorf("%s is %v in the record, and now %v", d.Path, d.Recorded, d.Replayed)
	}
{{- else}}
	t.Logf("the plan is now valid; it has %d children", len(plan.Children))
{{- end}}
}

const recorded = ` + "`{{.Record}}`" + `
`))
