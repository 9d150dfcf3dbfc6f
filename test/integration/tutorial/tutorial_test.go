// Package tutorial runs docs/tutorial.md: its operator, and the commands that it shows, which print what it says.
package tutorial

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/docs"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	root      = "../../../"
	page      = root + "docs/tutorial.md"
	patience  = 60 * time.Second
	pollEvery = 200 * time.Millisecond
)

func TestMain(m *testing.M) { os.Exit(testcluster.Run(m, testcluster.WithNodes("node-1"))) }

// TestTutorial: UPDATE_DOCS=1 writes what the commands print into the page.
func TestTutorial(t *testing.T) {
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "tutorial"), "./examples/tutorial")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	shell := shellFor(t, bin)
	text, err := os.ReadFile(page)
	require.NoError(t, err)

	started := false
	update := os.Getenv("UPDATE_DOCS") != ""
	after := docs.Blocks(string(text), "session", func(_, old string) string {
		var session strings.Builder
		for _, step := range steps(old) {
			session.WriteString("$ " + step.command + "\n" + shell.run(t, step, update))
			if !started { // the kind is there
				started = true
				shell.start(t, filepath.Join(bin, "tutorial"))
			}
		}
		return session.String()
	})
	t.Cleanup(func() { shell.run(t, step{command: "kubectl delete backup/nightly"}, true) })
	if update {
		require.NoError(t, os.WriteFile(page, []byte(after), 0o600))
	}
}

// step is a command of a page and what it prints.
type step struct{ command, want string }

func steps(session string) []step {
	var all []step
	for line := range strings.Lines(session) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, step{command: strings.TrimSpace(command)})
		} else if len(all) > 0 {
			all[len(all)-1].want += line
		}
	}
	return all
}

// shell runs commands as people type them, with a kubectl for the test's cluster.
type shell struct{ env []string }

func shellFor(t *testing.T, bin string) *shell {
	devcluster := os.Getenv("DEVCLUSTER_BIN")
	if devcluster == "" {
		var err error
		devcluster, err = filepath.Abs(root + "bin/devcluster")
		require.NoError(t, err)
	}
	kubectl := fmt.Sprintf("#!/bin/sh\nexec %s kubectl --kubeconfig %s \"$@\"\n", devcluster, testcluster.Kubeconfig(t))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o700))
	return &shell{env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+testcluster.Kubeconfig(t))}
}

// start runs the operator until the test ends.
func (s *shell) start(t *testing.T, operator string) {
	cmd := exec.Command(operator)
	cmd.Env = s.env
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
}

// run runs a command until it prints what the page says; ages and spaces may differ.
func (s *shell) run(t *testing.T, step step, once bool) string {
	t.Helper()
	var got string
	try := func() bool {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", step.command)
		cmd.Dir, cmd.Env = root, s.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			out = fmt.Appendf(out, "%v\n", err)
		}
		got = string(out)
		if got != "" && !strings.HasSuffix(got, "\n") {
			got += "\n"
		}
		return once || plain(got) == plain(step.want)
	}
	if !assert.Eventually(t, try, patience, pollEvery, "%s; UPDATE_DOCS=1 go test ./test/integration/tutorial", step.command) {
		t.Logf("want %s\ngot  %s", step.want, got)
	}
	return got
}

var (
	age    = regexp.MustCompile(`\b\d+m?s\b`)
	spaces = regexp.MustCompile(` +`)
)

// plain is an output without what differs from run to run: ages, widths of columns, the order of what happened at once.
func plain(text string) string {
	lines := strings.Split(spaces.ReplaceAllString(age.ReplaceAllString(text, "AGE"), " "), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
