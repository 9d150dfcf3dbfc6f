package testcluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const binaryEnv = "DEVCLUSTER_BIN"

// findBinary returns the devcluster binary, after building it if there is none.
func findBinary() (string, error) {
	if binary := os.Getenv(binaryEnv); binary != "" {
		if _, err := os.Stat(binary); err != nil {
			return "", fmt.Errorf("%s: %w", binaryEnv, err)
		}
		return binary, nil
	}
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(root, "bin", "devcluster")
	if err := buildOnce(root, binary); err != nil {
		return "", fmt.Errorf("build %s: %w", binary, err)
	}
	return binary, nil
}

// repositoryRoot is the directory above the test's that holds devcluster.
func repositoryRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "devcluster", "cmd", "devcluster", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no directory above %s holds devcluster: set %s or %s", start, binaryEnv, kubeconfigEnv)
		}
	}
}

// buildOnce builds the binary if it is missing. Test binaries of several packages start at the same time: a
// lock lets one of them build, and the others wait for it.
func buildOnce(root, binary string) error {
	if _, err := os.Stat(binary); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return err
	}
	unlock, err := lockFile(binary + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(binary); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	fmt.Fprintf(os.Stderr, "testcluster: building %s (the first time takes minutes)\n", binary)
	// Built under another name: a binary of this one is always complete.
	build := exec.Command("go", "build", "-o", binary+".new", ".")
	build.Dir = filepath.Join(root, "devcluster", "cmd", "devcluster")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	return os.Rename(binary+".new", binary)
}
