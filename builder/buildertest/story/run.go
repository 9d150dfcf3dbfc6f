package story

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Run runs the stories of a file, or of all files in a directory, each in its own subtest and cluster. The test fails at the first output
// that differs from the story's. With update it writes the present output into the files instead:
//
//	var update = flag.Bool("update", false, "write the stories' output")
//
//	func TestStories(t *testing.T) { story.Run(t, "testdata/stories", *update, config) }
func Run(t *testing.T, path string, update bool, c Config) {
	t.Helper()
	eachFile(t, path, update, func(t *testing.T, file string) {
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			text, err := s.Do(t.Context(), lineOf(d))
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return text
		})
	})
}

// eachFile runs a test of each file, as a subtest.
func eachFile(t *testing.T, path string, update bool, test func(t *testing.T, file string)) {
	t.Helper()
	if err := flag.Set("rewrite", map[bool]string{true: "true", false: "false"}[update]); err != nil {
		t.Fatal(err)
	}
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		t.Fatal(err)
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.txt")); err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Fatalf("%s has no stories; files with the extension .txt are accepted", path)
		}
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { test(t, file) })
	}
}

// lineOf converts a parsed line.
func lineOf(d *datadriven.TestData) Line {
	l := Line{Command: d.Cmd, Options: map[string][]string{}, Input: d.Input}
	for _, arg := range d.CmdArgs {
		if len(arg.Vals) == 0 {
			l.Words = append(l.Words, arg.Key)
		} else {
			l.Options[arg.Key] = arg.Vals
		}
	}
	return l
}
