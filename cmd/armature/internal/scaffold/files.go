package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates
var sources embed.FS

var templates = template.Must(template.New("").Delims("[[", "]]").ParseFS(sources, "templates/*.tmpl"))

// File is a file of a project. Its path is relative, with slashes.
type File struct {
	Path string
	Text []byte
}

// described is a Kind under another name, because in templates Kind is its name.
type described = Kind

// data is what templates see.
type data struct {
	Project
	described
	First bool // the kind is the first one of the project
}

// Go is the version in go.mod.
func (data) Go() string { return Go }

// GoMinor is the tag of the image with the Go command.
func (data) GoMinor() string { return Go[:strings.LastIndex(Go, ".")] }

// ControllerTools is the version of controller-gen.
func (data) ControllerTools() string { return ControllerTools }

// VetPlans is a command of the Makefile.
func (data) VetPlans() string { return VetPlans }

// New returns the files of a project with one kind.
func New(p Project, k Kind) ([]File, error) {
	if err := errors.Join(p.Check(), k.Check()); err != nil {
		return nil, err
	}
	chart := "charts/" + p.Name
	files, err := render(data{p, k, true}, [][2]string{
		{"go.mod", "go.mod"}, {"Makefile", "Makefile"}, {"main.go", "main.go"}, {"Dockerfile", "Dockerfile"},
		{"README.md", "README.md"}, {"AGENTS.md", "AGENTS.md"}, {".github/workflows/ci.yaml", "ci.yaml"},
		{"api/" + k.APIVersion + "/scheme.go", "scheme.go"}, {"operator/operator_test.go", "operator_test.go"},
		{chart + "/Chart.yaml", "Chart.yaml"}, {chart + "/values.yaml", "values.yaml"}, {chart + "/templates/deployment.yaml", "deployment.yaml"},
	})
	if err != nil {
		return nil, err
	}
	kind, err := kindFiles(p, k, true)
	if err != nil {
		return nil, err
	}
	files = append(files, kind...)
	if err := errors.Join(checkPaths(files), k.checkNames(nil, files)); err != nil {
		return nil, err
	}
	return mergeTests(files, "operator/operator_test.go", "operator/"+k.Lower()+"_test.go")
}

// checkPaths returns an error if two files have the same path: one would replace the other.
func checkPaths(files []File) error {
	known := map[string]bool{}
	for _, f := range files {
		if known[f.Path] {
			return fmt.Errorf("two files of the project are %s: the kind needs another name", f.Path)
		}
		known[f.Path] = true
	}
	return nil
}

// mergeTests appends the tests of the first kind to those of all kinds, as one file.
func mergeTests(files []File, all, first string) ([]File, error) {
	at := func(path string) int { return slices.IndexFunc(files, func(f File) bool { return f.Path == path }) }
	into, from := &files[at(all)], files[at(first)]
	const begin, end = "import (\n", "\n)\n"
	head, rest, _ := strings.Cut(string(into.Text), begin)
	imports, body, _ := strings.Cut(rest, end)
	_, rest, _ = strings.Cut(string(from.Text), begin)
	more, tests, _ := strings.Cut(rest, end)
	for line := range strings.SplitSeq(more, "\n") {
		if !strings.Contains(imports, line) {
			groups := strings.SplitN(imports, "\n\n", 3) // the standard library, other modules, this module
			group := 0
			if strings.Contains(line, ".") {
				group = 1
			}
			groups[group] += "\n" + line
			imports = strings.Join(groups, "\n\n")
		}
	}
	text, err := format.Source([]byte(head + begin + imports + end + body + tests))
	into.Text = text
	return slices.Delete(files, at(first), at(first)+1), err
}

// kindFiles returns the files of a kind.
func kindFiles(p Project, k Kind, first bool) ([]File, error) {
	d := data{p, k, first}
	files, err := render(d, [][2]string{
		{"api/" + k.APIVersion + "/" + k.Lower() + ".go", "types_" + k.Variant + ".go"},
		{"operator/" + k.Lower() + ".go", "operator_" + k.Variant + ".go"},
		{"operator/" + k.Lower() + "_test.go", "plan_test_" + k.Variant + ".go"},
		{"operator/testdata/" + k.Lower() + ".txt", "story_" + k.Variant + ".txt"},
	})
	if err != nil {
		return nil, err
	}
	files = append(files, File{"samples/" + k.Lower() + ".yaml", []byte(k.Sample)})
	if k.CRD != nil {
		files = append(files, File{fmt.Sprintf("charts/%s/crds/%s_%s.yaml", p.Name, k.Group, k.Plural), k.CRD})
	}
	return files, nil
}

// render executes templates, pairs of a path and a template. Go files are formatted.
func render(d data, pairs [][2]string) ([]File, error) {
	var files []File
	for _, pair := range pairs {
		path, name := pair[0], pair[1]
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, name+".tmpl", d); err != nil {
			return nil, err
		}
		text := b.Bytes()
		if strings.HasSuffix(path, ".go") {
			formatted, err := format.Source(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			text = formatted
		}
		files = append(files, File{path, text})
	}
	return files, nil
}

// Write writes files into a directory. It overwrites none: if one exists, it writes nothing.
func Write(dir string, files []File) error {
	if err := checkAbsent(dir, files); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Text, 0o644); err != nil { //nolint:gosec // files of a project, to commit
			return err
		}
	}
	return nil
}

// checkAbsent returns an error if a directory has one of the files.
func checkAbsent(dir string, files []File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists, and isn't overwritten", path)
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sample renders the sample of a variant.
func sample(k Kind) (string, error) {
	files, err := render(data{described: k}, [][2]string{{"sample.yaml", "sample_" + k.Variant + ".yaml"}})
	if err != nil {
		return "", err
	}
	return string(files[0].Text), nil
}

// WithSample returns a kind of the variants Plain and DSOI with its sample.
func (k Kind) WithSample() (Kind, error) {
	var err error
	k.Conditions = true
	k.Sample, err = sample(k)
	return k, err
}
