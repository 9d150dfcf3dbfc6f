package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The marks are those of -test.v=test2json.
const (
	passes = "\x16=== RUN   TestA\n\x16--- PASS: TestA (0.10s)\n"
	fails  = "\x16=== RUN   TestB\n    b_test.go:1: went <wrong>\n\x16--- FAIL: TestB (1.50s)\n"
	skips  = "\x16=== RUN   TestC\n    c_test.go:1: needs a moon\n\x16--- SKIP: TestC (0.00s)\n"
)

func TestReport(t *testing.T) {
	for _, tc := range []struct {
		name, in         string
		failed           bool
		tests, failures  int
		prints, mentions string
	}{
		{"all pass", passes + "\x16PASS\n", false, 1, 0, "1 passed, 0 failed", ""},
		{"one fails", passes + fails + "\x16FAIL\n", true, 2, 1, "went <wrong>", "went <wrong>"},
		{"one is not run, and the report says why", passes + skips + "\x16PASS\n", false, 2, 0, "Not run:\n  TestC\n          c_test.go:1: needs a moon\n\n1 passed, 0 failed, 1 not run", ""},
		{"the binary ends too early", passes + "\x16=== RUN   TestB\n    b_test.go:1: began\n", true, 2, 1, "1 passed, 1 failed", "began"},
		{"nothing was run", "", true, 1, 1, "0 passed, 1 failed", ""},
		{"what fails before the tests", "install: no\n", true, 1, 1, "TestMain\n      install: no\n", ""},
		{"what fails after the tests", passes + "\x16PASS\nuninstall: no\n", true, 2, 1, "TestMain\n      uninstall: no\n", "uninstall: no"},
		{"a test fails, and what comes after it", passes + fails + "\x16FAIL\nuninstall: no\n", true, 3, 2, "TestMain\n      uninstall: no\n", "went <wrong>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			var out bytes.Buffer
			err := run(strings.NewReader(tc.in), &out, dir)
			assert.Equal(t, tc.failed, err != nil, "%v", err)
			assert.Contains(t, out.String(), tc.prints)
			text, err := os.ReadFile(filepath.Join(dir, "report.txt"))
			require.NoError(t, err)
			assert.Equal(t, out.String(), string(text))

			document, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
			require.NoError(t, err)
			var j junitSuite
			require.NoError(t, xml.Unmarshal(document, &j))
			assert.Equal(t, tc.tests, j.Tests)
			assert.Equal(t, tc.failures, j.Failures)
			if tc.mentions != "" {
				assert.Contains(t, *j.Cases[1].Failure, tc.mentions)
			}
		})
	}
}

// A test that says a lot floods neither the console nor the report: all of it is in a file.
func TestLongOutputIsCut(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 10_000)
	in := "\x16=== RUN   TestB/one\n" + strings.Repeat("    b_test.go:1: "+long+"\n", 1000) + "\x16--- FAIL: TestB/one (1.50s)\n\x16FAIL\n"
	var out bytes.Buffer
	require.Error(t, run(strings.NewReader(in), &out, dir))
	assert.Less(t, out.Len(), 20_000)
	assert.Contains(t, out.String(), "... and 960 more lines, in ")
	all, err := os.ReadFile(filepath.Join(dir, "logs", "TestB.one", "output.txt"))
	require.NoError(t, err)
	assert.Equal(t, 1000, strings.Count(string(all), long))
}

// The end of the report leaves out where a failed assertion is, and what only says that a part has failed.
func TestFailuresAreSaidAgain(t *testing.T) {
	in := "\x16=== RUN   TestB\n\x16=== RUN   TestB/one\n    b_test.go:1: \n        \tError Trace:\t/a/b_test.go:1\n        \t            \t/a/c_test.go:2\n" +
		"        \tError:      \tShould be true\n        \tTest:       \tTestB/one\n        \tMessages:   \tthe flow\n" +
		"\x16--- FAIL: TestB (1.50s)\n\x16    --- FAIL: TestB/one (1.00s)\n\x16FAIL\n"
	var out bytes.Buffer
	require.Error(t, run(strings.NewReader(in), &out, t.TempDir()))
	_, end, found := strings.Cut(out.String(), "\nFailed:\n")
	require.True(t, found, out.String())
	assert.Equal(t, 1, strings.Count(end, "TestB"))
	assert.Contains(t, end, "Should be true")
	assert.Contains(t, end, "the flow")
	assert.NotContains(t, end, "/a/")
}
