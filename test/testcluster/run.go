package testcluster

import (
	"fmt"
	"os"
	"testing"
)

// Run runs the tests, for use in TestMain, and stops the cluster if they started one. It returns the exit code.
func Run(m *testing.M, opts ...Option) int {
	for _, opt := range opts {
		opt(&shared.options)
	}
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		if code == 0 {
			code = 1
		}
	}
	return code
}
