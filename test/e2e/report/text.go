package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How much of what a test said is printed: when it ends, and at the end of the report.
const (
	linesOfFailure = 40
	linesOfSummary = 6
	widthOfLine    = 240
)

// said is what a test itself said, without the marks of its start, pauses and end.
func (t *test) said() []string {
	var lines []string
	for line := range strings.Lines(t.output.String()) {
		line = strings.TrimRight(line, "\n")
		mark := strings.TrimLeft(line, " ")
		if strings.HasPrefix(mark, "=== ") || strings.HasPrefix(mark, "--- ") || slices.Contains([]string{"", "PASS", "FAIL"}, mark) {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// keep writes all that a test said into a file, beside what the test may have left there itself, and returns its name.
func (t *test) keep(logs string) (file string, err error) {
	file = filepath.Join(logs, strings.ReplaceAll(t.name, "/", "."), "output.txt")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, []byte(t.output.String()), 0o600)
}

// shorten leaves so many lines, none of which is too long, and says where the others are. Where there are more, those from the
// first failed assertion on say most.
func shorten(lines []string, most int, file string) []string {
	all := len(lines)
	first := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "Error:  ") })
	if all > most && first > 0 {
		lines = lines[first:]
	}
	var short []string
	for i, line := range lines {
		if i == most {
			break
		}
		if r := []rune(line); len(r) > widthOfLine {
			line = string(r[:widthOfLine]) + "..."
		}
		short = append(short, line)
	}
	if all > len(short) {
		short = append(short, fmt.Sprintf("... and %d more lines, in %s", all-len(short), file))
	}
	return short
}

func indent(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("      " + line + "\n")
	}
	return b.String()
}

// summarize says once more what failed, why something was not run, and how many tests there were of each.
func (s *suite) summarize(out io.Writer) {
	for _, part := range []struct{ action, title string }{{"skip", "Not run:"}, {"fail", "Failed:"}} {
		first := true
		for _, t := range s.tests {
			if t.action != part.action || s.isParent(t) {
				continue
			}
			if first {
				fmt.Fprintln(out, "\n"+part.title)
				first = false
			}
			fmt.Fprintln(out, "  "+t.name)
			fmt.Fprint(out, indent(shorten(trimTrace(t.said()), linesOfSummary, "the report")))
		}
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d not run\n", s.count("pass"), s.count("fail"), s.count("skip"))
}

// isParent tells whether a test has tests of its own, which say what there is to say.
func (s *suite) isParent(t *test) bool {
	return slices.ContainsFunc(s.tests, func(other *test) bool {
		return strings.HasPrefix(other.name, t.name+"/") && other.action == t.action
	})
}

// trimTrace leaves out the parts of a failed assertion that only tell where it is.
func trimTrace(lines []string) []string {
	trace := false
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		field := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(field, "Error Trace:"):
			trace = true
		case strings.HasPrefix(field, "Test:"):
			return true
		case trace:
			trace = strings.HasPrefix(field, "/") // the callers
		}
		return trace
	})
}
