package devcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

const (
	modulePath  = "github.com/armature-dev/armature/devcluster"
	programPath = modulePath + "/cmd/devcluster"
)

// source is what the program is built from.
type source struct {
	// version is that of the module of the program, or empty for a directory.
	version string
	// dir is the directory of that module, or empty for a version.
	dir string
	// key is the name in the cache.
	key string
	// state changes when the program has to be built again.
	state string
}

// findSource returns the source of the program beside this package: the same version of the module of the program, or where this module
// is a directory (replaced, or of a workspace), a directory in it.
func findSource(ctx context.Context) (source, error) {
	version, dir := builtFrom()
	if version == "" && dir == "" {
		var err error
		if version, dir, err = listed(ctx); err != nil {
			return source{}, err
		}
	}
	if version != "" {
		return source{version: version, key: version, state: version}, nil
	}
	dir = filepath.Join(dir, "cmd", "devcluster")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return source{}, fmt.Errorf("%s is a directory, which has no program: %w", modulePath, err)
	}
	state, err := stateOf(dir)
	sum := sha256.Sum256([]byte(dir))
	return source{dir: dir, key: "dir-" + hex.EncodeToString(sum[:6]), state: state}, err
}

// builtFrom returns the version of this module that this binary was built from, or its directory, or neither where the binary doesn't tell.
func builtFrom() (version, dir string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	for _, module := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if module.Path != modulePath {
			continue
		}
		if module.Replace != nil {
			module = module.Replace
		}
		switch {
		case filepath.IsAbs(module.Path):
			return "", module.Path
		case strings.HasPrefix(module.Version, "v") && !strings.Contains(module.Version, "+dirty"):
			return module.Version, ""
		}
	}
	return "", ""
}

// listed asks the Go command for the version or the directory of this module, in the module whose tests run.
func listed(ctx context.Context) (version, dir string, err error) {
	out, err := goCommand(ctx, "", nil, "list", "-m", "-json", modulePath)
	if err != nil {
		return "", "", err
	}
	var module struct {
		Version, Dir string
		Replace      *struct{ Version, Dir string }
	}
	if err := json.Unmarshal(out, &module); err != nil {
		return "", "", fmt.Errorf("go list -m -json %s: %w", modulePath, err)
	}
	if module.Replace != nil {
		module.Version, module.Dir = module.Replace.Version, module.Replace.Dir
	}
	if module.Version != "" {
		return module.Version, "", nil
	}
	return "", module.Dir, nil
}

// alone are settings of the Go command for a module by itself, whatever those of the tests are.
var alone = []string{"GOFLAGS=", "GOWORK=off"}

// build writes the program. The name is given last, so a binary of this name is always complete.
func (s source) build(ctx context.Context, binary string) error {
	dir := s.dir
	if dir == "" {
		out, err := goCommand(ctx, os.TempDir(), alone, "mod", "download", "-json", programPath+"@"+s.version)
		if err != nil {
			return err
		}
		var module struct{ Dir string }
		if err := json.Unmarshal(out, &module); err != nil {
			return fmt.Errorf("go mod download: %w", err)
		}
		dir = module.Dir
	}
	if _, err := goCommand(ctx, dir, alone, "build", "-buildvcs=false", "-o", binary+".new", "."); err != nil {
		return err
	}
	if err := os.Rename(binary+".new", binary); err != nil {
		return err
	}
	return os.WriteFile(binary+".source", []byte(s.state), 0o644)
}

// goCommand runs the Go command and returns its output. An error has what it wrote to its other output.
func goCommand(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, problems.String())
	}
	return out, nil
}

// stateOf changes when a file of the directory does.
func stateOf(dir string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
