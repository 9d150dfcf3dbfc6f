// Package scaffold tests the projects of armature new as a user has them: modules of their own, with the released module path and with
// this tree, built, linted, tested, and those of this tree run on a cluster. It takes minutes, so make test-long runs it; what make test
// does of it is in cmd/armature/internal/scaffold.
package scaffold

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

const limit = 15 * time.Minute

// in runs a command in a directory.
func in(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return string(out)
}

func TestProjects(t *testing.T) {
	if !testsize.Long() {
		t.Skip("compiles modules for minutes: make test-long")
	}
	armature, root := binary.Path(t), binary.Root(t)
	released, version := proxy(t, root)
	for name, c := range map[string]struct {
		args, env []string
		kinds     []string // further ones
	}{
		"plain":    {args: []string{"--kind", "Backup", "--group", "example.com"}, kinds: []string{"Restore"}},
		"from":     {args: []string{"--from", filepath.Join(root, "examples/tutorial/config/examples.armature.dev_backups.yaml")}},
		"dsoi":     {args: []string{"--kind", "Backup", "--group", "example.com", "--dsoi"}},
		"released": {args: []string{"--kind", "Backup", "--group", "example.com", "--armature-version", version}, env: released},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := append([]string{"new", name}, c.args...)
			if c.env == nil {
				args = append(args, "--armature-dir", root)
			}
			in(t, dir, c.env, armature, args...)
			project := filepath.Join(dir, name)
			for _, kind := range c.kinds {
				in(t, project, c.env, armature, "new", "kind", kind)
			}
			in(t, project, c.env, "make", "lint", "test")
			if name == "released" { // the same program as plain
				return
			}
			var samples []string
			for _, kind := range append([]string{"Backup"}, c.kinds...) {
				samples = append(samples, strings.ToLower(kind)+"/demo")
			}
			runs(t, project, root, c.env, samples)
			if name == "plain" {
				archive := filepath.Join(dir, "image.tar")
				in(t, project, c.env, "make", "image", "IMAGE="+archive, "PLATFORMS=linux/"+runtime.GOARCH)
				assert.FileExists(t, archive)
			}
		})
	}
}

// runs lets make run start a cluster and the operator, until the samples are ready.
func runs(t *testing.T, project, root string, env, samples []string) {
	t.Helper()
	cluster, devcluster := filepath.Join(project, "cluster"), filepath.Join(root, "bin", "devcluster")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer log.Close()
	cmd := exec.Command("make", "run", "DIR="+cluster)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = project, append(os.Environ(), env...), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ctrl-C reaches all of them
	require.NoError(t, cmd.Start())
	ready := wait.PollUntilContextTimeout(t.Context(), time.Second, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		wait := exec.CommandContext(ctx, devcluster, append([]string{"kubectl", "--kubeconfig", filepath.Join(cluster, "kubeconfig"),
			"wait", "--for=condition=Ready", "--timeout=10s"}, samples...)...)
		return wait.Run() == nil, nil
	})
	assert.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
	_ = cmd.Wait() // make was interrupted
	text, err := os.ReadFile(log.Name())
	require.NoError(t, err)
	require.NoError(t, ready, "%s", text)
	assert.NoFileExists(t, filepath.Join(cluster, "kubeconfig"), "ctrl-C deletes the cluster")
}

// proxy returns the environment of a module proxy in a directory, which has the last commit of this repository under a version of its own.
func proxy(t *testing.T, root string) (env []string, version string) {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) string { return strings.TrimSpace(in(t, root, nil, "git", args...)) }
	commit := git("rev-parse", "HEAD")
	version = "v0.0.0-" + strings.NewReplacer("-", "", ":", "", "T", "", "Z", "").Replace(
		git("log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ")) + "-" + commit[:12]
	for module, path := range map[string]string{
		"github.com/armature-dev/armature": ".", "github.com/armature-dev/armature/tools/image": "tools/image",
		"github.com/armature-dev/armature/tools/purity": "tools/purity",
	} {
		files := filepath.Join(dir, module, "@v")
		require.NoError(t, os.MkdirAll(files, 0o755)) //nolint:gosec // for the Go command
		archive := []string{"archive", "--format=zip", "--prefix=" + module + "@" + version + "/", "-o", filepath.Join(files, version+".zip")}
		if path == "." {
			archive = append(archive, "HEAD", "--", ".")
			for nested := range strings.FieldsSeq(git("ls-files", "*/go.mod")) { // other modules
				archive = append(archive, ":(exclude)"+filepath.Dir(nested))
			}
		} else {
			archive = append(archive, "HEAD:"+path)
		}
		git(archive...)
		mod := []byte(git("show", "HEAD:./"+filepath.Join(path, "go.mod")) + "\n")
		require.NoError(t, os.WriteFile(filepath.Join(files, version+".mod"), mod, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(files, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o600))
	}
	next := strings.TrimSpace(in(t, root, nil, "go", "env", "GOPROXY"))
	return []string{"GOPROXY=file://" + dir + "," + next, "GONOSUMDB=github.com/armature-dev/*", "GOFLAGS=-mod=mod"}, version
}
