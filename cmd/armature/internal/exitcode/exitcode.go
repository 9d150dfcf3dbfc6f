// Package exitcode lets a command say with which exit code the program ends, for scripts.
package exitcode

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes of commands that look for something, as diff and kubectl diff have them.
const (
	// Found: the command did its work, and has found something wrong.
	Found = 1
	// Trouble: the command could not do its work.
	Trouble = 2
)

// Error is the end of a command with an exit code of its own.
type Error struct {
	// Code is the exit code, not 0.
	Code int
	// Err is the error for standard error; nil if the output has it already.
	Err error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error for standard error.
func (e *Error) Unwrap() error { return e.Err }

// Of returns the exit code of a program whose command ended with an error: its own, else 1. Silent reports that the
// output already has the error.
func Of(err error) (code int, silent bool) {
	var own *Error
	switch {
	case err == nil:
		return 0, true
	case errors.As(err, &own):
		return own.Code, own.Err == nil
	default:
		return 1, false
	}
}

// Or returns the error with an exit code, unless it has one already or is nil.
func Or(code int, err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return &Error{Code: code, Err: err}
}

// ForUsage gives errors of a command's flags and arguments an exit code. Set the command's Args before.
func ForUsage(cmd *cobra.Command, code int) {
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Or(code, err) })
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return Or(code, check(cmd, args)) }
	}
}
