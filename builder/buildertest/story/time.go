package story

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// settle is the command settle: everything happens that can happen now.
func settle(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	err := s.world.Settle(ctx)
	return s.reportFor(l), err
}

// quiet is the word for no output.
const quiet = "quiet"

// reportFor returns the report for a line: with the word quiet only errors.
func (s *Story) reportFor(l Line) string {
	report := s.report()
	if !has(l, quiet) {
		return report
	}
	var failed []string
	for line := range strings.Lines(report) {
		if strings.Contains(line, "error: ") {
			failed = append(failed, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(failed, "\n")
}

// wait is the command wait: "wait 2m".
func wait(ctx context.Context, s *Story, l Line) (string, error) {
	words := 1
	if has(l, quiet) {
		words = 2
	}
	if err := only(l, words); err != nil {
		return "", err
	}
	d, err := parseDuration(l, l.Words[0])
	if err != nil {
		return "", err
	}
	err = s.world.Wait(ctx, d)
	return s.reportFor(l), err
}

// clock is the command clock: "clock 10s" moves the clock, and nothing happens yet.
func clock(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, 1); err != nil {
		return "", err
	}
	d, err := parseDuration(l, l.Words[0])
	if err == nil {
		s.world.Server().Clock().Step(d)
	}
	return "", err
}

// longest limits the command idle.
const longest = 24 * time.Hour

// idle is the command idle: the clock moves until nothing waits for a later time, at most a day.
func idle(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	err := s.world.Idle(ctx, longest)
	return s.reportFor(l), err
}

// steps is the command steps: it lists what can happen next.
func steps(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, 0); err != nil {
		return "", err
	}
	all, err := s.world.Steps()
	var lines []string
	for _, st := range all {
		lines = append(lines, st.String())
	}
	return strings.Join(lines, "\n"), err
}

// step is the command step: it runs the first step whose name contains the words, such as "step job-controller: create Pod".
func step(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	all, err := s.world.Steps()
	if err != nil {
		return "", err
	}
	for _, st := range all {
		if strings.Contains(st.String(), strings.Join(l.Words, " ")) {
			err := st.Run(ctx)
			return strings.TrimSuffix(st.String()+"\n"+s.report(), "\n"), err
		}
	}
	if len(all) == 0 {
		return "", errors.New("step: nothing can happen now; wait moves the clock")
	}
	return "", fmt.Errorf("step: no step contains %q; the command steps lists them", strings.Join(l.Words, " "))
}
