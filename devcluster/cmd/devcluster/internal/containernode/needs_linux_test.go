package containernode

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// needs runs hack/needs-of-nodes.sh on a machine with these programs beside those of a shell, each an exit code, and with so many
// inotify instances.
func needs(t *testing.T, what string, programs map[string]string, instances string) (said string, err error) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"bash", "cat", "go", "uname"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	for name, code := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexit "+code+"\n"), 0o700))
	}
	script, err := filepath.Abs("../../../../../hack/needs-of-nodes.sh")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "bash"), script, what)
	cmd.Env = append(os.Environ(), "PATH="+bin, "CC=gcc", "PKG_CONFIG=", "INOTIFY_INSTANCES="+instances)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestNeedsOfNodes(t *testing.T) {
	all := map[string]string{"gcc": "0", "pkg-config": "0"}
	for name, tc := range map[string]struct {
		what      string
		programs  map[string]string
		instances string
		fails     bool
		says      []string
	}{
		"nothing is missing":    {"build", all, "128", false, nil},
		"no compiler":           {"build", map[string]string{"pkg-config": "0"}, "128", true, []string{"there is no gcc on the PATH", "apt-get install gcc pkg-config libseccomp-dev"}},
		"no pkg-config":         {"build", map[string]string{"gcc": "0"}, "128", true, []string{"there is no pkg-config on the PATH"}},
		"no headers":            {"build", map[string]string{"gcc": "0", "pkg-config": "1"}, "128", true, []string{"pkg-config doesn't find libseccomp"}},
		"to build, too few":     {"build", all, "41", false, []string{"needs 42 inotify instances, and this machine lets each user have 41", "sysctl -w fs.inotify.max_user_instances="}},
		"to run, too few":       {"run", nil, "41", true, []string{"needs 42 inotify instances"}},
		"to run, as many as it": {"run", nil, "42", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			said, err := needs(t, tc.what, tc.programs, tc.instances)
			assert.Equal(t, tc.fails, err != nil, "%v\n%s", err, said)
			for _, part := range tc.says {
				assert.Contains(t, said, part)
			}
			if len(tc.says) == 0 {
				assert.Empty(t, said)
			}
		})
	}
	assert.Equal(t, 42, watchersOfControlPlane+3*watchersOfNode, "as in the script")
}
