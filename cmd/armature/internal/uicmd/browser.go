package uicmd

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// openBrowser opens a link in the browser, if there is one, and returns what removes its traces. The link has a token, and everyone on
// the machine can read the arguments of programs: so the browser is given a file that its owner alone can read, and that leads there.
func openBrowser(ctx context.Context, link string) (forget func()) {
	nothing := func() {}
	dir, err := os.MkdirTemp("", "armature-ui-")
	if err != nil {
		return nothing // the link is printed as well
	}
	forget = func() { _ = os.RemoveAll(dir) }
	name := filepath.Join(dir, "open.html")
	page := fmt.Sprintf("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=%s\"><title>Armature</title>", html.EscapeString(link))
	if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
		return forget
	}
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	if cmd := exec.CommandContext(ctx, program, name); cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
	return forget
}
