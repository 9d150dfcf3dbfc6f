package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// profile has packages of 1000 statements, in two files, and how many of them ran.
type profile map[string]int

func (p profile) String() string {
	var b strings.Builder
	b.WriteString("mode: set\n")
	for pkg, ran := range p {
		file := "github.com/armature-dev/armature/" + pkg
		fmt.Fprintf(&b, "%s/a.go:1.1,2.1 %d 1\n%s/b.go:1.1,2.1 %d 0\n", file, ran, file, 1000-ran)
		fmt.Fprintf(&b, "%s/a.go:1.1,2.1 %d 0\n", file, ran) // of a test binary that doesn't run them
	}
	return b.String()
}

// coverageIn runs the command for the packages builder and store.
func coverageIn(t *testing.T, gaps string, unit, both profile) (printed string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"gaps": gaps, "unit": unit.String(), "both": both.String()} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	var out bytes.Buffer
	err = command([]string{"coverage", "-packages", "github.com/armature-dev/armature/store github.com/armature-dev/armature/builder",
		"-gaps", filepath.Join(dir, "gaps"), "-unit", filepath.Join(dir, "unit"), "-both", filepath.Join(dir, "both")}, &out)
	return out.String(), err
}

func TestTheCoverageOfEachPackage(t *testing.T) {
	gaps := "# Known.\n\nstore  needs the disk\n"
	printed, err := coverageIn(t, gaps, profile{"store": 250}, profile{"store": 500, "builder": 901, "other": 0})
	require.NoError(t, err)
	assert.Equal(t, `
PACKAGE  STATEMENTS  UNIT %  BOTH %  KNOWN GAP
builder  1000        0.0     90.1    
store    1000        25.0    50.0    needs the disk
all      2000        12.5    70.0    
`, printed, "the package with the least is the last, and what isn't named isn't measured")
}

func TestGapsOfTheCoverage(t *testing.T) {
	for name, c := range map[string]struct {
		builder int
		gaps    string
		failure string
	}{
		"enough": {901, "", ""},
		"too little": {900, "",
			"builder has tests of 90.0 % of its statements; more than 90 % are required, or a line among the known gaps"},
		"a gap":              {900, "builder is hard", ""},
		"about to be closed": {919, "builder is hard", ""},
		"closed": {920, "builder is hard",
			"builder has tests of 92.0 % of its statements, and is no gap any more: remove its line from the known gaps"},
		"a gap of what isn't measured":  {901, "other is hard", "other is a known gap, but isn't measured: remove its line"},
		"a package that no test has in": {-1, "", "builder is in no test: nothing is known of it"},
	} {
		t.Run(name, func(t *testing.T) {
			both := profile{"store": 1000, "builder": c.builder}
			if c.builder < 0 {
				delete(both, "builder")
			}
			printed, err := coverageIn(t, c.gaps, profile{}, both)
			if c.failure == "" {
				require.NoError(t, err)
				assert.NotContains(t, printed, "FAILED")
				return
			}
			var failed failures
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, strings.Fields(c.failure)[:1], []string(failed))
			assert.True(t, strings.HasSuffix(printed, "\nFAILED: "+c.failure+"\n"), printed)
		})
	}
}

func TestWrongGaps(t *testing.T) {
	for gaps, failure := range map[string]string{
		"\nbuilder":                   "line 2: builder has no reason",
		"builder is hard\nbuilder is": "line 2: builder has a line already",
	} {
		_, err := coverageIn(t, gaps, profile{}, profile{})
		require.ErrorContains(t, err, failure)
	}
}
