package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// A preview says what the manager would do, with an exit code, and does none of it.
func TestPreview(t *testing.T) {
	p := connect(t)
	manager := binary.StartManager(t, p.Namespace)
	p.create(flowOf("running", node("a", "sleep 600")))
	p.waitState("running", v1alpha1.StateRunning)
	p.Eventually("nothing is left to do", func() bool {
		out, errs, code := p.armature("preview")
		require.Empty(t, errs)
		return code == 0 && out == "1 owners: 1 unchanged, 0 change, 0 of them disruptively, 0 with problems\n"
	})
	manager.Kill()

	p.create(flowOf("next", node("a", "true")))
	want := "Job.batch " + p.Namespace + "/next-a"
	for range 2 { // the first has not made it
		out, errs, code := p.armature("preview", "-o", "json")
		require.Equal(t, 2, code, errs)
		var report preview.Report
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		require.Len(t, report.Details, 1, out)
		require.Len(t, report.Details[0].Changes, 1)
		assert.Equal(t, want, report.Details[0].Changes[0].Object)
		assert.Equal(t, "create", report.Details[0].Changes[0].Operation)
	}
	out, _, code := p.armature("preview", "-o", "markdown")
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "| JobFlow "+p.Namespace+"/next | create "+want+" |")

	out, _, code = p.armature("preview", "--operators", "daemonjob")
	assert.Zero(t, code)
	assert.Contains(t, out, "0 owners")

	_, errs, code := p.armature("preview", "--operators", "cronjob")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, `there is no operator "cronjob"`)
}
