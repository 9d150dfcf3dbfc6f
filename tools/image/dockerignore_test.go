package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDockerfileSeesAllSources: .dockerignore lets everything through that the manager is built of.
func TestDockerfileSeesAllSources(t *testing.T) {
	const module = "github.com/armature-dev/armature/"
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/armature")
	list.Dir = "../.."
	packages, err := list.Output()
	require.NoError(t, err)
	text, err := os.ReadFile("../../.dockerignore")
	require.NoError(t, err)
	let := strings.Fields(string(text))
	found := 0
	for name := range strings.FieldsSeq(string(packages)) {
		if rest, ours := strings.CutPrefix(name, module); ours {
			dir, _, _ := strings.Cut(rest, "/")
			found++
			assert.Contains(t, let, "!"+dir, name)
		}
	}
	assert.NotZero(t, found)
}
