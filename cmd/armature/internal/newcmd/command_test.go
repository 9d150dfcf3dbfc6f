package newcmd

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/cmd/armature/internal/scaffold"
)

// run runs armature new in a directory, with a Go command that does what a script says, and returns the output.
func run(t *testing.T, dir, script string, args ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"+script+"\n"), 0o755)) //nolint:gosec // a program
	t.Setenv("PATH", bin)
	t.Chdir(dir)
	cmd := New("v0.1.0")
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

var backup = []string{"backup", "--kind", "Backup", "--group", "example.com"}

// The README shows what the command prints.
func TestOutputOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	dir := t.TempDir()
	out, err := run(t, dir, "exit 0", backup...)
	require.NoError(t, err)
	assert.Contains(t, string(readme), "    armature "+"new "+strings.Join(backup, " ")+"\n")
	assert.Contains(t, string(readme), "```\n"+out+"```\n")
	text, err := os.ReadFile(filepath.Join(dir, "backup", "go.mod"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "github.com/armature-dev/armature v0.1.0\n")
	assert.NotContains(t, string(text), "replace")

	_, err = run(t, dir, "exit 0", backup...)
	assert.EqualError(t, err, "the directory backup exists and isn't empty; give another name, or remove it")
}

// A project that builds with a source tree names it by its path, which its CI and the build of its image don't have.
func TestAProjectOfASourceTreeSaysSo(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	out, err := run(t, t.TempDir(), "exit 0", append(backup, "--armature-dir", root)...)
	require.NoError(t, err)
	assert.Contains(t, out, "it builds with the source tree "+root+", so only on this machine; for others: armature upgrade-project")
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := run(t, dir, "exit 0", "backup", "--kind", "backup")
	require.ErrorContains(t, err, `--kind: "backup"; a kind has at most`)
	require.ErrorContains(t, err, `--group: ""; a group is a domain`)
	_, err = run(t, dir, "exit 0", append(backup, "--armature-dir", dir)...)
	require.ErrorContains(t, err, "--armature-dir: ")
	_, err = run(t, dir, "exit 0", append(backup, "--armature-version", "latest")...)
	require.ErrorContains(t, err, `--armature-version: "latest" is no version`)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries, "nothing was written")
	_, err = run(t, dir, "echo no such module; exit 1", backup...)
	assert.EqualError(t, err, "go mod tidy in backup: exit status 1\nno such module")
}

func TestSource(t *testing.T) {
	_, _, err := (&source{}).resolve("(devel)")
	require.ErrorContains(t, err, "give --armature-version or --armature-dir")
	version, dir, err := (&source{}).resolve("v0.1.0")
	require.NoError(t, err)
	assert.Equal(t, "v0.1.0 ", version+" "+dir)
	_, _, err = (&source{}).resolve("v0.1.0-0.2026+dirty")
	require.Error(t, err, "a module of local changes can't be fetched")
	root, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	version, dir, err = (&source{dir: root}).resolve("v0.1.0")
	require.NoError(t, err)
	assert.Equal(t, "v0.0.0 "+root, version+" "+dir)
}

// A Makefile and go.mod have the path of a source tree as it is.
func TestSourceTreesWhosePathsDoNotFit(t *testing.T) {
	for name, fits := range map[string]bool{"my src": false, "a'b": false, "a$b": false, "a#b": false, "a,b": false, "src-1.2_3+é": true} {
		tree := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.MkdirAll(tree, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(tree, "go.mod"), []byte("module github.com/armature-dev/armature\n"), 0o600))
		_, _, err := (&source{dir: tree}).resolve("v0.1.0")
		if fits {
			assert.NoError(t, err, name)
			continue
		}
		assert.EqualError(t, err, "--armature-dir: "+strconv.Quote(tree)+" has a character that a Makefile or go.mod can't have in a path; "+
			"a path may have letters, digits and any of /._-+@=~; move the tree, or give --armature-version")
	}
}

func TestUpgradeOfAProject(t *testing.T) {
	dir := t.TempDir()
	_, err := run(t, dir, "exit 0", backup...)
	require.NoError(t, err)
	project := filepath.Join(dir, "backup")
	role := filepath.Join(project, "charts", "backup", "templates", "role.yaml")
	rule := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules:\n- {apiGroups: [\"\"], resources: [pods], verbs: ["
	require.NoError(t, os.WriteFile(role, []byte(rule+"list, watch]}\n"), 0o600))

	bin := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >>" + bin + "/calls\nif [ \"$1\" = generate ]; then echo '" + rule + "list, create]}' >charts/backup/templates/role.yaml; fi\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755)) //nolint:gosec // a program
	t.Setenv("PATH", bin)
	cmd := NewUpgrade("v0.2.0")
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{project})
	require.NoError(t, cmd.ExecuteContext(t.Context()))
	assert.Equal(t, `go mod edit -require=github.com/armature-dev/armature@v0.2.0 -dropreplace=github.com/armature-dev/armature `+
		`-require=github.com/armature-dev/armature/tools/image@v0.2.0 -dropreplace=github.com/armature-dev/armature/tools/image `+
		`-require=github.com/armature-dev/armature/tools/purity@v0.2.0 -dropreplace=github.com/armature-dev/armature/tools/purity `+
		`-tool=github.com/armature-dev/armature/tools/purity
go mod tidy
go generate .
backup: Armature v0.1.0 -> v0.2.0
changed: charts/backup/templates/role.yaml
role: - watch pods
role: + create pods
go vet ./...
`, out.String())
	makefile, err := os.ReadFile(filepath.Join(project, "Makefile"))
	require.NoError(t, err)
	assert.Contains(t, string(makefile), "devcluster/install@v0.2.0")
}

// A project from before the check of plans gets it in make lint. The check stays out of a Makefile that someone has changed there, or from
// which they took it.
func TestUpgradeBringsTheCheckOfPlans(t *testing.T) {
	const former, check = "\tgo vet ./...\n", "\t" + scaffold.VetPlans + "\n"
	dir := t.TempDir()
	_, err := run(t, dir, "exit 0", backup...)
	require.NoError(t, err)
	role := filepath.Join(dir, "backup", "charts", "backup", "templates", "role.yaml")
	require.NoError(t, os.WriteFile(role, []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"), 0o600))
	file := filepath.Join(dir, "backup", "Makefile")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	created := string(text)
	require.Contains(t, created, former+check)
	for name, c := range map[string]struct{ before, after, said string }{
		"former":  {strings.Replace(created, check, "", 1), created, "Makefile: make lint now checks that plans are pure"},
		"changed": {strings.Replace(created, former+check, "\tstaticcheck ./...\n", 1), "", ""},
		"removed": {strings.Replace(created, check, "\t# without purity\n", 1), "", ""},
		"present": {created, created, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(c.before), 0o600))
			cmd := NewUpgrade("v0.1.0")
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetArgs([]string{filepath.Join(dir, "backup")})
			require.NoError(t, cmd.ExecuteContext(t.Context()))
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, cmp.Or(c.after, c.before), string(text))
			assert.Contains(t, out.String(), c.said)
			assert.Equal(t, c.said != "", strings.Contains(out.String(), "Makefile: "))
			vets := strings.Contains(cmp.Or(c.after, c.before), check) // also after an upgrade that was interrupted
			assert.Equal(t, vets, strings.Contains(out.String(), "-tool="+module+"/tools/purity"))
		})
	}
}
