package rbaccmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
)

func diff(args ...string) (string, error) {
	cmd := New()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(append([]string{"diff"}, args...))
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.Execute()
	return out.String(), err
}

func TestDiff(t *testing.T) {
	other := filepath.Join(t.TempDir(), "role.yaml")
	const tutorial = "../../../../examples/tutorial/role.yaml"
	text, err := os.ReadFile(tutorial)
	require.NoError(t, err)
	text = bytes.Replace(text, []byte("[get, list, watch, create, patch, delete]"), []byte("[list, watch, create, patch, delete, update]"), 1)
	require.NoError(t, os.WriteFile(other, text, 0o600))

	out, err := diff(tutorial, tutorial)
	require.NoError(t, err)
	assert.Empty(t, out)

	out, err = diff(tutorial, other)
	code, silent := exitcode.Of(err)
	assert.Equal(t, 2, code)
	assert.True(t, silent)
	assert.Equal(t, "- get configmaps\n+ update configmaps\n", out)

	require.NoError(t, os.WriteFile(other, append(text, []byte("- nonResourceURLs: [\"*\"]\n  verbs: [get]\n")...), 0o600))
	out, err = diff(tutorial, other)
	code, _ = exitcode.Of(err)
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "+ get nonResourceURL *\n")

	_, err = diff(tutorial, "../../../../examples/tutorial/sample.yaml")
	assert.EqualError(t, err, "../../../../examples/tutorial/sample.yaml: there is no ClusterRole and no Role of rbac.authorization.k8s.io")
}

// The same rules for all namespaces, for one, and for another one are different permissions.
func TestDiffOfScopes(t *testing.T) {
	role := func(kind, namespace string) string {
		file := filepath.Join(t.TempDir(), "role.yaml")
		require.NoError(t, os.WriteFile(file, []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: "+kind+"\nmetadata: {name: x, namespace: "+
			namespace+"}\nrules:\n- {apiGroups: [\"\"], resources: [secrets], verbs: [get]}\n"), 0o600))
		return file
	}
	out, err := diff(role("Role", "a"), role("ClusterRole", "\"\""))
	code, _ := exitcode.Of(err)
	assert.Equal(t, 2, code)
	assert.Equal(t, "+ get secrets\n- get secrets in namespace a\n", out)

	out, _ = diff(role("Role", "a"), role("Role", "b"))
	assert.Equal(t, "- get secrets in namespace a\n+ get secrets in namespace b\n", out)

	out, _ = diff(role("Role", "a"), role("Role", "\"\""))
	assert.Equal(t, "- get secrets in namespace a\n+ get secrets in the Role's namespace\n", out)

	out, err = diff(role("Role", "a"), role("Role", "a"))
	require.NoError(t, err)
	assert.Empty(t, out)
}

func TestDiffOfStandardInput(t *testing.T) {
	const tutorial = "../../../../examples/tutorial/role.yaml"
	in, err := os.Open(tutorial)
	require.NoError(t, err)
	defer in.Close()
	cmd := New()
	cmd.SetIn(in)
	cmd.SetArgs([]string{"diff", "-", tutorial})
	require.NoError(t, cmd.Execute())
}
