package scaffold

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the root of the repository.
const root = "../../../.."

func plain(t *testing.T, kind string) Kind {
	t.Helper()
	k, err := Kind{Group: "example.com", APIVersion: "v1", Kind: kind, Variant: Plain}.WithSample()
	require.NoError(t, err)
	return k
}

func tutorialCRD(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(root + "/examples/tutorial/config/examples.armature.dev_backups.yaml")
	require.NoError(t, err)
	return text
}

// project writes a project with one kind of a variant into a directory.
func project(t *testing.T, dir, module string, k Kind) {
	t.Helper()
	files, err := New(Project{Name: "saver", Module: module, Armature: "v0.0.0", ArmatureDir: "/armature"}, k)
	require.NoError(t, err)
	require.NoError(t, Write(dir, files))
}

// A project of two kinds, one of which has the name of a built-in kind, generates, compiles, and passes vet and its own tests. It is built
// as packages of this module, with what is compiled already; test/integration/scaffold builds modules of all variants.
func TestProjectOfTwoKinds(t *testing.T) {
	require.NoError(t, os.MkdirAll("testdata", 0o755)) //nolint:gosec // git keeps no empty directory
	dir, err := os.MkdirTemp("testdata", "project-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	project(t, dir, "github.com/armature-dev/armature/cmd/armature/internal/scaffold/"+filepath.ToSlash(dir), plain(t, "Backup"))
	p, err := Open(dir)
	require.NoError(t, err)
	_, err = p.AddKind(plain(t, "Ingress"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "go.mod")))

	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	}
	tools, err := filepath.Abs(root + "/tools/gen/go.mod")
	require.NoError(t, err)
	main, err := os.ReadFile(filepath.Join(dir, "main.go"))
	require.NoError(t, err)
	commands := regexp.MustCompile(`(?m)^//go:generate go (.*)$`).FindAllStringSubmatch(string(main), -1)
	require.Len(t, commands, 3)
	for _, command := range commands {
		args := strings.Fields(command[1])
		switch {
		case args[0] == "tool" && args[1] == "trimcrd":
			args = append([]string{"run", "github.com/armature-dev/armature/tools/trimcrd"}, args[2:]...)
		case args[0] == "tool":
			args = append([]string{"tool", "-modfile=" + tools}, args[1:]...)
		}
		run(dir, args...)
	}
	run(dir, "vet", "./...")
	run(dir, "test", "-vet=off", "./...")
	for _, file := range []string{"charts/saver/crds/example.com_backups.yaml", "charts/saver/crds/example.com_ingresses.yaml", "charts/saver/templates/role.yaml"} {
		assert.FileExists(t, filepath.Join(dir, file))
	}
}

// What a person reads and edits stays small; everything else is a dependency.
func TestProjectsAreSmall(t *testing.T) {
	dsoi, err := Kind{Group: "example.com", APIVersion: "v1", Kind: "Shop", Variant: DSOI}.WithSample()
	require.NoError(t, err)
	from, notes, err := FromCRD(tutorialCRD(t), "")
	require.NoError(t, err)
	assert.Empty(t, notes)
	for _, k := range []Kind{plain(t, "Backup"), dsoi, from} {
		files, err := New(Project{Name: "saver", Module: "example.com/saver", Armature: "v0.1.0"}, k)
		require.NoError(t, err)
		generated := 3 // go.sum, zz_generated.deepcopy.go, role.yaml
		if k.Variant != From {
			generated++ // the CRD
		}
		assert.LessOrEqual(t, len(files)+generated, 20, k.Variant)
		lines := 0
		for _, f := range files {
			switch {
			case strings.HasSuffix(f.Path, ".go"), strings.HasPrefix(f.Path, "samples/"):
				lines += bytes.Count(f.Text, []byte("\n"))
			}
			assert.NotContains(t, string(f.Text), "[[", f.Path)
			for line := range strings.Lines(string(f.Text)) {
				if k.Variant != From || !strings.HasSuffix(f.Path, ".yaml") {
					assert.LessOrEqual(t, len(line), 170, "%s: %s", f.Path, line)
				}
			}
		}
		t.Logf("%s: %d files, %d lines of Go and of the sample", k.Variant, len(files)+generated, lines)
		assert.LessOrEqual(t, lines, 250, k.Variant)
	}
}

// The kubelet waits for a project's program as long as for the manager.
func TestProbesWaitAsTheManagers(t *testing.T) {
	timeouts := func(file string) []string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return regexp.MustCompile(`timeoutSeconds: \d+`).FindAllString(string(text), -1)
	}
	assert.Equal(t, timeouts(root+"/config/manager/deployment.yaml"), timeouts("templates/deployment.yaml.tmpl"))
}

func TestNames(t *testing.T) {
	good := plain(t, "Backup")
	for want, c := range map[string]struct {
		project Project
		change  func(*Kind)
	}{
		`the name is "Backup"`:                      {Project{Name: "Backup", Module: "example.com/a"}, func(*Kind) {}},
		`the name is "../a"`:                        {Project{Name: "../a", Module: "example.com/a"}, func(*Kind) {}},
		`the name is ""`:                            {Project{Name: "", Module: "example.com/a"}, func(*Kind) {}},
		`the name is "1st"`:                         {Project{Name: "1st", Module: "example.com/a"}, func(*Kind) {}},
		`--module: "a b"`:                           {Project{Name: "a", Module: "a b"}, func(*Kind) {}},
		`--kind: "backup"`:                          {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Kind = "backup" }},
		`--kind: ""`:                                {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Kind = "" }},
		`--kind: "BackupList" ends like the name`:   {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Kind = "BackupList" }},
		`declare GroupVersion, which api/v1/scheme`: {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Kind = "GroupVersion" }},
		`--kind: "Operator" is a name that a file`:  {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Kind = "Operator" }},
		`--kind: "Scheme" is a name that a file`:    {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Kind = "Scheme" }},
		`--kind: "SCHEME" is a name that a file`:    {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Kind = "SCHEME" }},
		`--group: "example"`:                        {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Group = "example" }},
		`--group: "x.k8s.io": groups under k8s.io`:  {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.Group = "x.k8s.io" }},
		`--version: "1"`:                            {Project{Name: "a", Module: "example.com/a"}, func(k *Kind) { k.APIVersion = "1" }},
	} {
		k := good
		c.change(&k)
		_, err := New(c.project, k)
		assert.ErrorContains(t, err, want)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte("mine"), 0o600))
	files, err := New(Project{Name: "a", Module: "example.com/a", Armature: "v0.1.0"}, plain(t, "Backup"))
	require.NoError(t, err)
	require.ErrorContains(t, Write(dir, files), "Makefile exists, and isn't overwritten")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestKindsThatDoNotFitTheProject(t *testing.T) {
	dir := t.TempDir()
	project(t, dir, "example.com/saver", plain(t, "Backup"))
	p, err := Open(dir)
	require.NoError(t, err)
	assert.Equal(t, Plain, p.Variant)
	for want, change := range map[string]func(*Kind){
		"the kinds of this project are of example.com/v1":     func(k *Kind) { k.APIVersion = "v2" },
		`of the variant "dsoi"; those of this project`:        func(k *Kind) { k.Variant = DSOI },
		"api/v1/backup.go exists, and isn't overwritten":      func(k *Kind) { k.Kind = "Backup" },
		"--kind: \"Restore!\"; a kind has at most 50 letters": func(k *Kind) { k.Kind = "Restore!" },
	} {
		k := plain(t, "Restore")
		change(&k)
		_, err := p.AddKind(k)
		assert.ErrorContains(t, err, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "Restore", "nothing was written")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), bytes.ReplaceAll(text, []byte("// armature"), []byte("//")), 0o600))
	_, err = p.AddKind(plain(t, "Restore"))
	assert.ErrorContains(t, err, `add "operator.Restore(mgr).Complete()," where the other kinds are`)
	_, err = Open(t.TempDir())
	assert.ErrorContains(t, err, "is no project of armature new")
}

// The types of a kind have names that no other kind of the project may have.
func TestKindsWithTheNameOfAnotherOnesType(t *testing.T) {
	for first, second := range map[string]string{"Backup": "BackupSpec", "BackupStatus": "Backup"} {
		dir := t.TempDir()
		project(t, dir, "example.com/saver", plain(t, first))
		p, err := Open(dir)
		require.NoError(t, err)
		_, err = p.AddKind(plain(t, second))
		file := func(kind string) string { return "api/v1/" + strings.ToLower(kind) + ".go" }
		assert.EqualError(t, err, fmt.Sprintf("--kind: %q: %s would declare %s, which %s declares already; choose another name",
			second, file(second), max(first, second), file(first)))
		assert.NoFileExists(t, filepath.Join(dir, file(second)))
	}
}

// controller-gen is that of this repository.
func TestControllerTools(t *testing.T) {
	text, err := os.ReadFile(root + "/tools/gen/go.mod")
	require.NoError(t, err)
	assert.Contains(t, string(text), "sigs.k8s.io/controller-tools "+ControllerTools)
	text, err = os.ReadFile(root + "/go.mod")
	require.NoError(t, err)
	assert.Contains(t, string(text), "\ngo "+Go+"\n")
}
