package treecmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func named(kind, name, state string, f health, owned ...branch) branch {
	return branch{Ref: diagnose.Ref{APIVersion: "batch/v1", Kind: kind, Name: name}, State: state, Created: now.Add(-time.Hour), Owned: owned, health: f}
}

func drawn(t *testing.T, root branch, all bool) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, write(&b, output.New(), root, all, now))
	return b.String()
}

func TestTree(t *testing.T) {
	root := named("Flow", "f", "Running", runs,
		named("Job", "a", "Complete", done, named("Pod", "a-1", "Succeeded", done)), named("Job", "bcd", "1 active", runs), named("ConfigMap", "settings", "", quiet))
	assert.Equal(t, strings.Join([]string{
		"NAME                   STATE      AGE",
		"Flow/f                 Running    60m",
		"├─ Job/a               Complete   60m",
		"│  └─ Pod/a-1          Succeeded  60m",
		"├─ Job/bcd             1 active   60m",
		"└─ ConfigMap/settings             60m",
		"",
	}, "\n"), drawn(t, root, false))
}

// The Cleaner lets the colours of a table pass.
func TestColoursPassTheCleaner(t *testing.T) {
	var b strings.Builder
	table(&b, lines(named("Flow", "f", "Running", runs, named("Job", "a", "Complete", done)), false, now), true, output.Paint(true))
	assert.Equal(t, b.String(), output.Text(b.String(), true))
}

func TestManyAreTold(t *testing.T) {
	root := named("Flow", "f", "Running", runs)
	for i := range 30 {
		job := named("Job", fmt.Sprint("j", i), "Complete", done)
		if i == 7 {
			job.State, job.health = "Failed", bad
		}
		if i > 20 {
			job.State, job.health = "1 active", runs
		}
		root.Owned = append(root.Owned, job)
	}
	assert.Equal(t, strings.Join([]string{
		"NAME       STATE    AGE",
		"Flow/f     Running  60m",
		"├─ Job/j7  Failed   60m",
		"└─ 29 other Jobs: 20 Complete; 9 1 active",
		"",
	}, "\n"), drawn(t, root, false))
	assert.Equal(t, 32, strings.Count(drawn(t, root, true), "\n"))
}
