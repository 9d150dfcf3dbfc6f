package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Existing is a project in a directory.
type Existing struct {
	Project
	Dir               string
	Group, APIVersion string // of its kinds
	Variant           string // of its kinds
}

var (
	moduleLine  = regexp.MustCompile(`(?m)^module (\S+)$`)
	nameLine    = regexp.MustCompile(`program\.Options\{Name: "([^"]+)"`)
	groupLine   = regexp.MustCompile(`GroupVersion = schema\.GroupVersion\{Group: "([^"]+)", Version: "([^"]+)"\}`)
	versionLine = regexp.MustCompile(`(?m)^\s*(?:require )?github\.com/armature-dev/armature (v\S+)`)
)

// Open reads the project in a directory that [New] wrote.
func Open(dir string) (*Existing, error) {
	p := &Existing{Dir: dir}
	found := func(file string, pattern *regexp.Regexp, what string) ([]string, error) {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, fmt.Errorf("%s is no project of armature new: %w", dir, err)
		}
		match := pattern.FindStringSubmatch(string(text))
		if match == nil {
			return nil, fmt.Errorf("%s is no project of armature new: %s has no %s", dir, file, what)
		}
		return match[1:], nil
	}
	module, err := found("go.mod", moduleLine, "line \"module\"")
	if err != nil {
		return nil, err
	}
	version, err := found("go.mod", versionLine, "requirement of github.com/armature-dev/armature")
	if err != nil {
		return nil, err
	}
	name, err := found("main.go", nameLine, `program.Options{Name: "..."}`)
	if err != nil {
		return nil, err
	}
	schemes, err := filepath.Glob(filepath.Join(dir, "api", "*", "scheme.go"))
	if err != nil || len(schemes) != 1 {
		return nil, fmt.Errorf("%s has %d files api/*/scheme.go; there must be one", dir, len(schemes))
	}
	scheme, err := filepath.Rel(dir, schemes[0])
	if err != nil {
		return nil, err
	}
	group, err := found(scheme, groupLine, "GroupVersion")
	if err != nil {
		return nil, err
	}
	if p.Variant, err = variantOf(dir); err != nil {
		return nil, err
	}
	p.Module, p.Armature, p.Name, p.Group, p.APIVersion = module[0], version[0], name[0], group[0], group[1]
	return p, nil
}

// variantOf returns the variant of a project: in one of From the CRDs aren't generated, in one of DSOI no test holds the role.
func variantOf(dir string) (string, error) {
	main, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		return "", err
	}
	tests, err := os.ReadFile(filepath.Join(dir, "operator", "operator_test.go"))
	switch {
	case err != nil:
		return "", err
	case !strings.Contains(string(main), "controller-gen object crd "):
		return From, nil
	case !strings.Contains(string(tests), "func TestRole("):
		return DSOI, nil
	}
	return Plain, nil
}

// insertion is a line of a kind in a file that has one for each kind, above the line with the marker.
type insertion struct{ file, marker, line string }

// AddKind writes the files of a further kind, and its lines in files that list the kinds. If it fails it has written nothing.
func (p *Existing) AddKind(k Kind) ([]string, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	if k.Variant != p.Variant {
		return nil, fmt.Errorf("the kind is of the variant %q; those of this project are %q: what go generate writes is of one variant",
			k.Variant, p.Variant)
	}
	if k.Group != p.Group || k.APIVersion != p.APIVersion {
		return nil, fmt.Errorf("the kind is of %s/%s; the kinds of this project are of %s/%s", k.Group, k.APIVersion, p.Group, p.APIVersion)
	}
	files, err := kindFiles(p.Project, k, false)
	if err != nil {
		return nil, err
	}
	if err := checkAbsent(p.Dir, files); err != nil {
		return nil, err
	}
	existing, err := beside(p.Dir, files)
	if err != nil {
		return nil, err
	}
	if err := k.checkNames(existing, files); err != nil {
		return nil, err
	}
	const above = "// armature new kind: further "
	edited := map[string]string{}
	for _, i := range []insertion{
		{"main.go", above + "kinds", "operator." + k.Kind + "(mgr).Complete(),"},
		{"api/" + k.APIVersion + "/scheme.go", above + "kinds", "&" + k.Kind + "{}, &" + k.Kind + "List{},"},
		{"operator/operator_test.go", above + "kinds", k.Var() + "Scenario(t),"},
		{"operator/operator_test.go", above + "operators", "world.OperatorOf(" + k.Kind + "),"},
	} {
		if err := i.into(p.Dir, edited); err != nil {
			return nil, err
		}
	}
	if err := Write(p.Dir, files); err != nil {
		return nil, err
	}
	var changed []string
	for _, f := range files {
		changed = append(changed, f.Path)
	}
	for file, text := range edited {
		if err := os.WriteFile(filepath.Join(p.Dir, file), []byte(text), 0o644); err != nil { //nolint:gosec // a file to commit
			return nil, err
		}
		changed = append(changed, file)
	}
	return changed, nil
}

// into adds the line to the text of its file, with the indentation of the marker.
func (i insertion) into(dir string, edited map[string]string) error {
	text, ok := edited[i.file]
	if !ok {
		read, err := os.ReadFile(filepath.Join(dir, i.file))
		if err != nil {
			return err
		}
		text = string(read)
	}
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		if before, _, found := strings.Cut(line, i.marker); found && strings.TrimSpace(before) == "" {
			lines = append(lines[:n], append([]string{before + i.line}, lines[n:]...)...)
			edited[i.file] = strings.Join(lines, "\n")
			return nil
		}
	}
	return fmt.Errorf("%s has no comment %q, above which to add a line; add %q where the other kinds are, and the comment",
		i.file, i.marker, i.line)
}
