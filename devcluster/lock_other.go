//go:build !unix

package devcluster

import (
	"fmt"
	"runtime"
)

// lockFile returns an error, so that a test says what is missing before anything compiles for minutes.
func lockFile(string) (unlock func(), err error) {
	return nil, fmt.Errorf("devcluster runs on Linux and macOS, and not on %s", runtime.GOOS)
}
