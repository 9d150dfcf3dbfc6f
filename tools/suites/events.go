package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// event is one of go test -json: see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// readSuite reads how a suite went.
func readSuite(dir, name string) (*suite, error) {
	ended, err := readEnd(endedFile(dir, name))
	if err != nil {
		return nil, err
	}
	s := &suite{name: name, packages: map[string]*pkg{}, builds: map[string]string{}, end: ended}
	file, err := os.Open(eventsFile(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	for decoder := json.NewDecoder(bufio.NewReader(file)); ; {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			return s, nil
		} else if err != nil { // a full disk cut a line: what is known of the suite is in the table, and it has failed
			s.end = &end{Error: fmt.Sprintf("its events can't be read: %s: %v", file.Name(), err)}
			return s, nil
		}
		s.add(e)
	}
}

func (s *suite) add(e event) {
	switch {
	case e.Action == "build-output":
		s.builds[e.ImportPath] += e.Output
		return
	case e.Package == "":
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &pkg{name: e.Package, tests: map[string]*test{}}
		s.packages[e.Package] = p
	}
	if e.Test != "" {
		p.addTest(e)
		return
	}
	switch e.Action {
	case "output":
		p.output.add(e.Output)
		p.cached = p.cached || strings.HasPrefix(e.Output, "ok ") && strings.Contains(e.Output, "(cached)")
	case "pass", "fail", "skip":
		p.took += seconds(e.Elapsed)
		// What a package fails of beside its tests, it fails of for good: in a second run that part is another.
		if e.Action == "fail" && !p.failedTestSince {
			p.failed = true
			p.output.add(s.builds[e.FailedBuild])
		}
		p.failedTestSince = false
	}
}

func (p *pkg) addTest(e event) {
	t := p.tests[e.Test]
	if t == nil {
		t = &test{pkg: p.name, name: e.Test}
		p.tests[e.Test] = t
	}
	switch e.Action {
	case "run":
		t.runs = append(t.runs, attempt{})
	case "output":
		t.last().output.add(e.Output)
	case "pass", "fail", "skip":
		t.last().result, t.last().took = e.Action, seconds(e.Elapsed)
		p.failedTestSince = p.failedTestSince || e.Action == "fail"
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
