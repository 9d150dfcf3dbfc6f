package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NotFoundError says that a command is not on this machine.
type NotFoundError struct {
	Command string
	Path    string
	Cause   error
}

func (e *NotFoundError) Error() string {
	if strings.Contains(e.Command, "/") {
		return fmt.Sprintf("command %q cannot be run on this machine: %v", e.Command, e.Cause)
	}
	return fmt.Sprintf("command %q is not on this machine (PATH=%s)", e.Command, e.Path)
}

func (e *NotFoundError) Unwrap() error { return e.Cause }

// Lookup finds the executable of a command as execvp does, but in the given PATH
// and, for a relative name with a slash, from the given directory.
func Lookup(command, path, dir string) (string, error) {
	if strings.Contains(command, "/") {
		file := command
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if err := executableFile(file); err != nil {
			return "", &NotFoundError{Command: command, Path: path, Cause: err}
		}
		return file, nil
	}
	for _, in := range filepath.SplitList(path) {
		if in == "" {
			in = "."
		}
		if !filepath.IsAbs(in) {
			in = filepath.Join(dir, in)
		}
		if file := filepath.Join(in, command); executableFile(file) == nil {
			return file, nil
		}
	}
	return "", &NotFoundError{Command: command, Path: path, Cause: os.ErrNotExist}
}

func executableFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory", file)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable: %w", file, os.ErrPermission)
	}
	return nil
}
