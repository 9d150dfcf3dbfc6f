package main

import (
	"fmt"
	"os"
	"testing"
)

// runEnv makes the test binary behave as the program: `up` starts its own executable again for each component,
// and so is tested without building another binary.
const runEnv = "DEVCLUSTER_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runEnv) != "" {
		main()
	}
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the shared cluster:", err)
		code = 1
	}
	os.Exit(code)
}
