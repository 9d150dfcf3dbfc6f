package recordcmd

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/test/docs"
)

// TestDocs: docs/record.md has what the commands print of a recorded flow. UPDATE_DOCS=1 writes it anew.
func TestDocs(t *testing.T) {
	const file = "../../../../docs/record.md"
	list := recordedPasses(t, jobflow.Name)
	for i := range list.Items {
		list.Items[i].Program = record.Program{
			Path: "github.com/armature-dev/armature/cmd/armature", Version: "v0.1.0", Revision: "3eb6bdf0c1de",
		}
	}
	var steps, same, differs strings.Builder
	require.NoError(t, list.WriteText(&steps))
	require.NoError(t, replay(list, &same, output.New()))
	list.Items = list.Items[:1]
	list.Items[0].Plan.Children[0].Object["spec"].(map[string]any)["backoffLimit"] = int64(6)
	require.Error(t, replay(list, &differs, output.New()))

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	seen := 0
	page := docs.Blocks(string(text), "message", func(name, _ string) string {
		seen++
		return map[string]string{
			"steps": "$ armature replay nightly.json --step\n" + steps.String(), "same": "$ armature replay nightly.json\n" + same.String(),
			"differs": "$ armature replay nightly.json --pass 1\n" + differs.String(),
		}[name]
	})
	assert.Equal(t, 3, seen)
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(file, []byte(page), 0o600))
	}
	assert.Equal(t, string(text), page, "UPDATE_DOCS=1 go test ./cmd/armature/internal/recordcmd -run TestDocs")
}
