// Package gomod finds the files of modules that tests read.
package gomod

import (
	"encoding/json"
	"fmt"
	"os/exec"
)

// Dir returns the directory of a module, in the version that the go.mod in the directory root selects. A module that isn't in the
// module cache yet is downloaded: go list -m prints nothing for it.
func Dir(root, module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = root
	out, failure := cmd.Output()
	var download struct{ Dir, Error string }
	if err := json.Unmarshal(out, &download); err != nil {
		return "", fmt.Errorf("go mod download -json %s, in %s, printed %q: %w", module, root, out, failure)
	}
	if download.Dir == "" {
		return "", fmt.Errorf("module %s of %s: %s", module, root, download.Error)
	}
	return download.Dir, nil
}
