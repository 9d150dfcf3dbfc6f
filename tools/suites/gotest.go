package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// goTestCommand is what gotestsum runs: go test, by this program.
const goTestCommand = "go-test"

// goTest becomes go test. Its arguments are the packages in one string, and flags; to run a failed test a second time gotestsum
// adds two more: -test.run=TEST and its package.
func goTest(args []string) error {
	if len(args) == 0 {
		return errors.New("go-test: name the packages")
	}
	path, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{"go"}, goTestArgs(args[0], args[1:])...), os.Environ())
}

// goTestArgs are the arguments of go: the packages come first, since go test takes nothing for one behind a flag that only the tests
// know. A second run of a test is one: it isn't taken from the cache.
func goTestArgs(packages string, flags []string) []string {
	args := []string{"test", "-json"}
	if n := len(flags) - 2; n >= 0 && strings.HasPrefix(flags[n], "-test.run=") {
		args = append(args, flags[n+1], "-count=1", flags[n])
		for _, flag := range flags[:n] {
			if !strings.HasPrefix(flag, "-run=") {
				args = append(args, flag)
			}
		}
		return args
	}
	return append(append(args, strings.Fields(packages)...), flags...)
}
