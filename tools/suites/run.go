package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	gotestsum "gotest.tools/gotestsum/cmd"
)

// maxReruns is how many tests of a suite may fail for them to be run a second time: more than these are no bad luck.
const maxReruns = 5

// run is one run of a suite.
type run struct {
	name, out, dir, packages string
	flags                    []string // of go test
}

// suite runs the suite, and fails if it has failed. How it ended goes to a file beside its events: without that file it didn't.
func (r run) suite(out io.Writer) error {
	dir, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	events, ended := eventsFile(dir, r.name), endedFile(dir, r.name)
	if err := errors.Join(remove(events), remove(ended)); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Chdir(r.dir); err != nil {
		return err
	}

	fmt.Fprintf(out, "\n==> %s\n", r.name)
	start := time.Now()
	failure := gotestsum.Run("gotestsum", append([]string{
		"--format=pkgname-and-test-fails", "--format-hide-empty-pkg", "--hide-summary=skipped,output",
		"--jsonfile=" + events, "--ignore-non-json-output-lines",
		"--rerun-fails=1", "--rerun-fails-max-failures=" + strconv.Itoa(maxReruns), "--rerun-fails-abort-on-data-race",
		"--raw-command", "--packages=unused", "--", self, goTestCommand, r.packages}, r.flags...))
	s, err := readSuite(dir, r.name)
	if err != nil {
		return errors.Join(failure, err)
	}
	s.printFlaky(out)
	// gotestsum runs nothing when it runs a package a second time that failed outside of its tests, and takes that for a success.
	if failure == nil && s.count().failed > 0 {
		failure = errors.New("what failed was not a test, or failed again")
	}
	cpu, err := cpuOfChildren()
	if err != nil {
		return err
	}
	if err := writeEnd(ended, end{Seconds: time.Since(start).Seconds(), CPU: cpu.Seconds(), Error: text(failure)}); err != nil {
		return err
	}
	if failure != nil {
		return fmt.Errorf("%s failed: %w", r.name, failure)
	}
	return nil
}

// cpuOfChildren is the processors' time of all processes that ended below this one.
func cpuOfChildren() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return 0, err
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
