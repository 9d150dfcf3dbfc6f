package story

import (
	"context"
	"fmt"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// script is the command pod: "pod demo-n1-* run=2m exit=137 message=(out of disk) restarts=1". With run, exit, message or oom the
// containers end, run after their start; without, they run until they are deleted.
func script(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1, "run", "exit", "message", "container", "restarts", "labels", "before", "start", "stop"); err != nil {
		return "", err
	}
	if len(l.Words) == 0 {
		return "", fmt.Errorf("pod: the pods' names are missing; a pattern such as demo-* is accepted")
	}
	var sc world.Script
	var err error
	if sc.Run, err = duration(l, "run"); err != nil {
		return "", err
	}
	if sc.Start, err = duration(l, "start"); err != nil {
		return "", err
	}
	if sc.Stop, err = duration(l, "stop"); err != nil {
		return "", err
	}
	before, err := duration(l, "before")
	if err != nil {
		return "", err
	}
	if before > 0 {
		sc.Before = buildertest.Epoch.Add(before)
	}
	exit, err := number(l, "exit", 0)
	if err != nil {
		return "", err
	}
	restarts, err := number(l, "restarts", 0)
	if err != nil {
		return "", err
	}
	sc.ExitCode, sc.Restarts, sc.Labels = int32(exit), int32(restarts), labels(l)
	if sc.Message, _, err = value(l, "message"); err != nil {
		return "", err
	}
	if sc.Container, _, err = value(l, "container"); err != nil {
		return "", err
	}
	for _, key := range []string{"run", "exit", "message"} {
		if _, ok := l.Options[key]; ok {
			sc.Ends = true
		}
	}
	var patterns []string
	for _, word := range l.Words {
		switch word {
		case "oom":
			sc.Ends, sc.OutOfMemory = true, true
		case "unready":
			sc.Unready = true
		default:
			patterns = append(patterns, word)
		}
	}
	for _, p := range patterns {
		if err := s.world.Script(p, sc); err != nil {
			return "", fmt.Errorf("pod %s: %w", p, err)
		}
	}
	return "", nil
}
