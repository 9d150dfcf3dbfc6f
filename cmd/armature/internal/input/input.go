// Package input opens the files that commands read whole.
package input

import (
	"io"
	"os"
)

// Open opens a file, or standard input for "-".
func Open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name) //nolint:gosec // the user's file
}
