package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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
	return runSampleIn(t, t.TempDir(), packages)
}

// runSampleIn does so with a directory for the events of the tests, and for the file that they write.
func runSampleIn(t *testing.T, dir, packages string) (printed string, err error) {
	t.Helper()
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
	assert.Regexp(t, `sample +2 +0 +0 +1 +[0-9.]+m?s +[0-9.]+m?s +\n`, printed) // the time, and that of the processors
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

// Up to maxReruns failures are tried twice. More are no bad luck, and the suite ends at once.
func TestManyFailuresAreTriedOnce(t *testing.T) {
	for failures, attempts := range map[int]int{maxReruns: 2, maxReruns + 1: 1} {
		t.Run(strconv.Itoa(failures), func(t *testing.T) {
			t.Setenv("SAMPLE_FAILURES", strconv.Itoa(failures))
			dir := t.TempDir()
			printed, err := runSampleIn(t, dir, "./broadly ./passes")
			require.Error(t, err)
			ran, err := os.ReadFile(filepath.Join(dir, "state"))
			require.NoError(t, err)
			for i := range failures {
				name := fmt.Sprintf("TestBroadly/%d", i)
				assert.Equal(t, attempts, strings.Count(string(ran), name+"\n"), name)
				assert.Contains(t, printed, "FAILED: sample/broadly "+name+"\n")
			}
			assert.NotContains(t, printed, "FLAKY ***")
			assert.Regexp(t, fmt.Sprintf(`\n2 passed, %d failed, 1 skipped\n$`, failures), printed)
		})
	}
}

// The report lists the slowest tests of all suites, the slowest first. A test with subtests, and one that didn't run because its
// package passed before, isn't among them.
func TestTheSlowestTests(t *testing.T) {
	dir := t.TempDir()
	record := func(suite string, events ...event) {
		file, err := os.Create(eventsFile(dir, suite))
		require.NoError(t, err)
		defer file.Close()
		for _, e := range events {
			require.NoError(t, json.NewEncoder(file).Encode(e))
		}
		require.NoError(t, writeEnd(endedFile(dir, suite), end{}))
	}
	test := func(pkg, name string, elapsed float64) []event {
		return []event{{Action: "run", Package: pkg, Test: name}, {Action: "pass", Package: pkg, Test: name, Elapsed: elapsed}}
	}
	var unit, e2e []event
	for i := range 15 {
		unit = append(unit, test("github.com/armature-dev/armature/a", fmt.Sprintf("TestA%02d", i), float64(i))...)
		e2e = append(e2e, test("b", fmt.Sprintf("TestB%02d", i), float64(i)+0.5)...)
	}
	unit = append(append(unit, test("a", "TestParent/child", 0.01)...), test("a", "TestParent", 1000)...)
	e2e = append(append(e2e, test("cached", "TestCached", 1000)...), event{Action: "output", Package: "cached", Output: "ok  \tcached\t(cached)\n"})
	record("unit", unit...)
	record("e2e", e2e...)

	var out bytes.Buffer
	require.NoError(t, command([]string{"report", "-out", dir, "unit", "e2e"}, &out))
	_, list, found := strings.Cut(out.String(), "\nThe 20 slowest tests:\n")
	require.True(t, found, out.String())
	list, _, _ = strings.Cut(list, "\n\n")
	lines := strings.Split(list, "\n")
	require.Len(t, lines, slowest)
	assert.Equal(t, "     15s  b TestB14", lines[0], "14.5s, rounded")
	for i, line := range lines {
		fields := strings.Fields(line)
		require.Len(t, fields, 3)
		n := 14 - i/2
		assert.Equal(t, []string{fmt.Sprintf("b TestB%02d", n), fmt.Sprintf("a TestA%02d", n)}[i%2], fields[1]+" "+fields[2])
	}
}

// What a package fails of beside its tests isn't forgiven because running none of them passes.
func TestFailuresOutsideOfTests(t *testing.T) {
	printed, err := runSample(t, "./outside ./passes")
	require.Error(t, err)
	assert.Regexp(t, `(?s)FAILED: sample/outside\n.*something was left behind`, printed)
	assert.Regexp(t, `\n3 passed, 1 failed, 1 skipped\n$`, printed)
}

// A failure with 25 MB is told in time that grows as they do, and in the report without its middle.
func TestLongMessages(t *testing.T) {
	printed, err := runSample(t, "./verbose")
	require.Error(t, err)
	assert.Regexp(t, `(?s)FAILED: sample/verbose TestVerbose\n.*the message:  long .*\n\.\.\. 2[0-9]{7} bytes .*long .*--- FAIL: TestVerbose`, printed)
	assert.Less(t, len(printed), 1<<20)
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
