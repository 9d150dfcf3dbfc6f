package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary do what gotestsum asks of this program, and report.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == goTestCommand || os.Args[1] == "report") {
		main()
	}
	os.Exit(m.Run())
}

// runSample runs packages of testdata/sample as a suite, and returns the last attempt's report.
func runSample(t *testing.T, packages string) (printed string, err error) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("SAMPLE_STATE", filepath.Join(dir, "state"))
	t.Chdir("testdata/sample")
	var out bytes.Buffer
	runErr := command([]string{"run", "-name", "sample", "-out", dir, "-packages", packages, "--", "-vet=off"}, &out)
	flaky := out.String()
	out.Reset()
	err = command([]string{"report", "-out", dir, "sample"}, &out)
	assert.Equal(t, runErr == nil, err == nil, "the report says something else than the suite: %v, %v", runErr, err)
	for _, told := range regexp.MustCompile(`(?m)^\*\*\* FLAKY \*\*\*.*$`).FindAllString(flaky, -1) {
		assert.Contains(t, out.String(), told)
	}
	return out.String(), err
}

func TestPasses(t *testing.T) {
	printed, err := runSample(t, "./passes")
	require.NoError(t, err)
	assert.Regexp(t, `sample +2 +0 +0 +1 `, printed)
	assert.Regexp(t, `sample/passes +2 +0 +0 +1 `, printed)
	assert.Regexp(t, `\n2 passed, 0 failed, 1 skipped\n$`, printed)
	assert.NotContains(t, printed, "FAILED:")
}

func TestFlakyTestsPassAndAreTold(t *testing.T) {
	printed, err := runSample(t, "./flaky ./passes")
	require.NoError(t, err)
	assert.Regexp(t, `sample/flaky +2 +0 +1 +0 `, printed)
	assert.Contains(t, printed, "*** FLAKY *** sample/flaky TestFlaky/unsteady failed")
	assert.Contains(t, printed, "this time it fails")
	assert.Regexp(t, `\n4 passed, 0 failed, 1 skipped\n$`, printed)
}

func TestFailuresAreTriedTwice(t *testing.T) {
	printed, err := runSample(t, "./fails ./passes")
	require.Error(t, err)
	assert.Regexp(t, `sample/fails +1 +1 +0 +0 .*FAILED`, printed)
	assert.Regexp(t, `(?s)FAILED: sample/fails TestFails/always\n.*it fails each time`, printed)
	assert.NotContains(t, printed, "FLAKY ***")
	assert.Regexp(t, `\n3 passed, 1 failed, 1 skipped\n$`, printed)
}

// What a package fails of beside its tests isn't forgiven because running none of them passes.
func TestFailuresOutsideOfTests(t *testing.T) {
	printed, err := runSample(t, "./outside ./passes")
	require.Error(t, err)
	assert.Regexp(t, `(?s)FAILED: sample/outside\n.*something was left behind`, printed)
	assert.Regexp(t, `\n3 passed, 1 failed, 1 skipped\n$`, printed)
}

func TestWhatDoesNotCompile(t *testing.T) {
	printed, err := runSample(t, "./broken ./passes")
	require.Error(t, err)
	assert.Regexp(t, `(?s)FAILED: sample/broken\n.*undefined: undefined`, printed)
	assert.Regexp(t, `\n2 passed, 1 failed, 1 skipped\n$`, printed)
}

func TestSuitesThatDidNotRun(t *testing.T) {
	var out bytes.Buffer
	require.Error(t, command([]string{"report", "-out", t.TempDir(), "unit"}, &out))
	assert.Contains(t, out.String(), "FAILED: the suite unit was not run to its end")
	assert.Regexp(t, `unit .*NOT RUN TO ITS END`, out.String())
	assert.Regexp(t, `\n0 passed, 1 failed, 0 skipped\n$`, out.String())
}

// The numbers are the last that is seen, also on a terminal, where both outputs are.
func TestNothingFollowsTheReport(t *testing.T) {
	report := exec.CommandContext(t.Context(), os.Args[0], "report", "-out", t.TempDir(), "unit")
	printed, err := report.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Regexp(t, `\nFAILED: unit\n\n0 passed, 1 failed, 0 skipped\n$`, string(printed))

	report = exec.CommandContext(t.Context(), os.Args[0], "report")
	printed, err = report.CombinedOutput()
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, "suites: report: name the suites\n", string(printed))
}

func TestGoTestArgs(t *testing.T) {
	assert.Equal(t, []string{"test", "-json", "./a", "./b", "-race", "-run=X", "-own=1"},
		goTestArgs("./a  ./b", []string{"-race", "-run=X", "-own=1"}))
	assert.Equal(t, []string{"test", "-json", "module/a", "-count=1", "-test.run=^X$", "-race", "-own=1"},
		goTestArgs("./a  ./b", []string{"-race", "-run=X", "-own=1", "-test.run=^X$", "module/a"}))
}
