package graphcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilesWithoutAFlow(t *testing.T) {
	for text, want := range map[string]string{
		"- a":                          "want an object, which has apiVersion and kind, found: array",
		"hello":                        "want an object, which has apiVersion and kind, found: string",
		"kind: JobFlow":                "can't be drawn: want a JobFlow of api.practice.com/v1alpha1",
		"apiVersion: v1\nkind: Secret": "can't be drawn: want a JobFlow of api.practice.com/v1alpha1",
		"":                             "no JobFlow found",
	} {
		file := filepath.Join(t.TempDir(), "flow.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		cmd := New()
		cmd.SetArgs([]string{"--local", "-f", file})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.Execute()
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "unstructured")
	}
}
