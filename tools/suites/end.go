package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// end is how the run of a suite ended.
type end struct {
	Seconds float64
	CPU     float64 // seconds of processors' time, of all programs that the tests ran and waited for
	Error   string  // empty if it passed
}

// eventsFile is the file of what go test -json printed in a suite.
func eventsFile(dir, suite string) string { return filepath.Join(dir, suite+".json") }

// endedFile is the file that says how the run of a suite ended. A run that was killed has none.
func endedFile(dir, suite string) string { return filepath.Join(dir, suite+".ended") }

func writeEnd(file string, e end) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// readEnd returns nil if the suite didn't run to its end.
func readEnd(file string) (*end, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	e := &end{}
	return e, json.Unmarshal(text, e)
}

func remove(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
