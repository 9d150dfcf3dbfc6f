package testcluster

import (
	"fmt"
	"os"
	"testing"
)

// Run runs the tests, for use in TestMain, and stops the cluster if they started one. It returns the exit code, which
// isn't 0 either if a connection of [OperatorConfig] was allowed something that no test made use of.
func Run(m *testing.M, opts ...Option) int {
	for _, opt := range opts {
		opt(&shared.options)
	}
	code := m.Run()
	if code == 0 {
		if err := checkUnused(); err != nil {
			fmt.Fprintln(os.Stderr, "testcluster:", err)
			code = 1
		}
	}
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		if code == 0 {
			code = 1
		}
	}
	return code
}
