// Report turns what a test binary prints with -test.v=test2json into a report: DIR/report.txt, which is also printed, and
// DIR/junit.xml. A line a test, when it ends; of one that failed also the beginning of what it said, all of which is in
// DIR/logs/TEST/output.txt; and at the end what failed and what was not run, once more and short. It fails if a test has.
//
//	e2e.test -test.v=test2json | go run ./test/e2e/report DIR
package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "report: name one directory")
		os.Exit(2)
	}
	if err := run(os.Stdin, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// run reads the output of a test binary, lets go tool test2json understand it, and writes the report.
func run(in io.Reader, out io.Writer, dir string) error {
	cmd := exec.Command("go", "tool", "test2json", "-t")
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	text, err := os.Create(filepath.Join(dir, "report.txt"))
	if err != nil {
		return err
	}
	defer text.Close()
	s, err := read(events, io.MultiWriter(out, text), filepath.Join(dir, "logs"))
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return err
	}
	s.summarize(io.MultiWriter(out, text))
	document, err := xml.MarshalIndent(s.junit(), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "junit.xml"), append([]byte(xml.Header), document...), 0o644); err != nil {
		return err
	}
	if s.failed {
		return errors.New("the suite failed")
	}
	return nil
}

// outside is the name of what goes wrong before the first test and after the last: Armature is installed, upgraded and
// uninstalled there.
const outside = "TestMain"

// event is one of go tool test2json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// suite is how the tests went.
type suite struct {
	tests  []*test
	failed bool
	ended  bool
}

type test struct {
	name, action string
	seconds      float64
	output       strings.Builder
}

// read reads events to their end. A line for each test that ends goes to out, with what it said if it failed, which also goes
// to a file under logs.
func read(events io.Reader, out io.Writer, logs string) (*suite, error) {
	s := &suite{}
	running := map[string]*test{}
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			if err := s.end(running, out, logs); err != nil {
				return nil, err
			}
			return s, s.addOutside(running[""], out, logs)
		} else if err != nil {
			return nil, err
		}
		t := running[e.Test]
		if t == nil {
			t = &test{name: e.Test}
			running[e.Test] = t
		}
		switch e.Action {
		case "output":
			t.output.WriteString(e.Output)
		case "pass", "fail", "skip":
			t.action, t.seconds = e.Action, e.Elapsed
			s.failed = s.failed || e.Action == "fail"
			if e.Test == "" {
				s.ended = true
				continue
			}
			if err := s.add(t, out, logs); err != nil {
				return nil, err
			}
		}
	}
}

// add takes a test that has ended.
func (s *suite) add(t *test, out io.Writer, logs string) error {
	s.tests = append(s.tests, t)
	fmt.Fprintf(out, "%-4s %7.1fs  %s\n", t.action, t.seconds, t.name)
	if t.action != "fail" {
		return nil
	}
	file, err := t.keep(logs)
	if err != nil {
		return err
	}
	fmt.Fprint(out, indent(shorten(t.said(), linesOfFailure, file)))
	return nil
}

// end takes the tests that were running when a binary panicked or was killed: they have no verdict, and have failed.
func (s *suite) end(running map[string]*test, out io.Writer, logs string) error {
	if s.ended {
		return nil
	}
	s.failed = true
	for _, name := range slices.Sorted(maps.Keys(running)) {
		if t := running[name]; name != "" && t.action == "" {
			t.action = "fail"
			if err := s.add(t, out, logs); err != nil {
				return err
			}
		}
	}
	return nil
}

// addOutside takes what was said outside of tests, which TestMain does only if something goes wrong, as a test that has
// failed: that is what readers of the report look for. A suite that failed, or had no test, without saying anything is one, too.
func (s *suite) addOutside(t *test, out io.Writer, logs string) error {
	if t == nil {
		t = &test{}
	}
	if len(t.said()) == 0 {
		if s.count("fail") > 0 || len(s.tests) > 0 && !s.failed {
			return nil
		}
		t.output.WriteString("nothing was said, and no test failed\n")
	}
	s.failed = true
	t.name, t.action = outside, "fail"
	return s.add(t, out, logs)
}

func (s *suite) count(action string) (n int) {
	for _, t := range s.tests {
		if t.action == action {
			n++
		}
	}
	return n
}
