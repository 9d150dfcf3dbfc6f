package devcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binaryEnv names the program.
const binaryEnv = "DEVCLUSTER_BIN"

// Binary returns the path of the program devcluster: the one that DEVCLUSTER_BIN names, else the one on the PATH, else the one of this
// package's version in the user's cache directory. It builds the latter if it is missing, with the Go command, which takes minutes the
// first time. Processes that need it at the same time build it once. An error has the output of the Go command.
func Binary(ctx context.Context) (string, error) {
	if binary := os.Getenv(binaryEnv); binary != "" {
		if _, err := os.Stat(binary); err != nil {
			return "", fmt.Errorf("%s: %w", binaryEnv, err)
		}
		return filepath.Abs(binary)
	}
	if binary, err := exec.LookPath("devcluster"); err == nil {
		return filepath.Abs(binary)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the program devcluster: not on the PATH, and no cache directory to build it in: %w", err)
	}
	source, err := findSource(ctx)
	if err != nil {
		return "", fmt.Errorf("find the program devcluster: not on the PATH, and its source isn't found: %w; set %s", err, binaryEnv)
	}
	return cached(ctx, filepath.Join(cache, "devcluster", source.key), source)
}

// cached returns the program in a directory, which it builds there if it is missing, or another one than that of the source.
func cached(ctx context.Context, dir string, source source) (string, error) {
	binary := filepath.Join(dir, "devcluster")
	if isBuilt(binary, source) {
		return binary, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockFile(binary + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if isBuilt(binary, source) {
		return binary, nil
	}
	fmt.Fprintf(os.Stderr, "devcluster: building %s; the first time takes minutes, as it compiles Kubernetes\n", binary)
	if err := source.build(ctx, binary); err != nil {
		return "", fmt.Errorf("build %s: %w", binary, err)
	}
	return binary, nil
}

// isBuilt reports whether the binary is of this source. The file beside it, written last, tells the state of the source.
func isBuilt(binary string, source source) bool {
	state, err := os.ReadFile(binary + ".source")
	if err != nil || string(state) != source.state {
		return false
	}
	_, err = os.Stat(binary)
	return !errors.Is(err, os.ErrNotExist)
}
