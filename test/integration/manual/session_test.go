package manual

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/docs"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	root     = "../../../"
	patience = 10 * time.Minute
)

// play runs the sessions of a page, which must print what it says. UPDATE_DOCS=1 writes what they print into the page.
// Afterwards is called when the first command has run, if it isn't nil.
func play(t *testing.T, s *shell, page string, afterwards func()) {
	t.Helper()
	text, err := os.ReadFile(root + page)
	require.NoError(t, err)
	update := os.Getenv("UPDATE_DOCS") != ""
	played := 0
	after := docs.Blocks(string(text), "session", func(_, old string) string {
		var session strings.Builder
		for _, step := range steps(old) {
			session.WriteString("$ " + step.command + "\n" + s.run(t, step, update))
			if played++; played == 1 && afterwards != nil {
				afterwards()
			}
		}
		return session.String()
	})
	require.NotZero(t, played)
	if update {
		require.NoError(t, os.WriteFile(root+page, []byte(after), 0o600))
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

// shell runs commands as people type them.
type shell struct {
	dir string
	env []string
	// tidy makes an output that which the page shows; nil: it is.
	tidy func(string) string
}

// devclusterBinary returns the devcluster that tests use.
func devclusterBinary(t *testing.T) string {
	t.Helper()
	if binary := os.Getenv("DEVCLUSTER_BIN"); binary != "" {
		return binary
	}
	binary, err := filepath.Abs(root + "bin/devcluster")
	require.NoError(t, err)
	return binary
}

// shellFor has a kubectl for a namespace of the test's cluster in a directory, and armature.
func shellFor(t *testing.T, bin, namespace string) *shell {
	kubectl := fmt.Sprintf("#!/bin/sh\nexec %s kubectl --kubeconfig %s -n %s \"$@\"\n", devclusterBinary(t), testcluster.Kubeconfig(t), namespace)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o700))
	path := strings.Join([]string{bin, filepath.Dir(binary.Path(t)), os.Getenv("PATH")}, string(filepath.ListSeparator))
	return &shell{dir: root, env: append(os.Environ(), "PATH="+path, "KUBECONFIG="+testcluster.Kubeconfig(t))}
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
	ctx := t.Context()
	if once {
		ctx = context.WithoutCancel(ctx) // when a test tidies up, its context is over
	}
	var got string
	try := func() bool {
		cmd := exec.CommandContext(ctx, "sh", "-c", step.command)
		cmd.Dir, cmd.Env = s.dir, s.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			out = fmt.Appendf(out, "%v\n", err)
		}
		got = string(out)
		if got != "" && !strings.HasSuffix(got, "\n") {
			got += "\n"
		}
		if s.tidy != nil {
			got = s.tidy(got)
		}
		return once || docs.Plain(got) == docs.Plain(step.want)
	}
	harness.Eventually(t, patience, step.command+"; UPDATE_DOCS=1 go test ./test/integration/manual", try, func() any {
		return fmt.Sprintf("want %s\ngot  %s", step.want, got)
	})
	return got
}
