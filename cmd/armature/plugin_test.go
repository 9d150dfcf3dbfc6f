package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// run runs the program as it is called by a name.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	root := newCommand()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(asCalled(root, name, args))
	require.NoError(t, root.ExecuteContext(t.Context()))
	return out.String()
}

func TestPlugin(t *testing.T) {
	assert.Contains(t, run(t, "/usr/bin/kubectl-armature", "lint", "--help"), "Usage:\n  kubectl armature lint -f FILENAME [flags]")
	assert.Contains(t, run(t, "bin/armature", "lint", "--help"), "Usage:\n  armature lint -f FILENAME [flags]")
	assert.Contains(t, run(t, "/usr/bin/kubectl_complete-armature", "con"), "convert\tConvert manifests of Volcano")
	assert.Contains(t, run(t, "kubectl_complete-armature", "convert", "--from", "a"), "argo\n")
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		assert.Contains(t, run(t, "armature", "completion", shell), "armature", shell)
	}
}
