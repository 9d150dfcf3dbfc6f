package newcmd

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
)

// complete adds the dependencies of a project and generates its code, CRDs and role.
func complete(cmd *cobra.Command, dir string) error {
	if err := runGo(cmd, dir, "mod", "tidy"); err != nil {
		return err
	}
	return runGo(cmd, dir, "generate", ".")
}

// runGo runs the Go command in a directory, and prints the command. Its output is part of the error.
func runGo(cmd *cobra.Command, dir string, args ...string) error {
	line := "go " + strings.Join(args, " ")
	fmt.Fprintln(cmd.OutOrStdout(), line)
	process := exec.CommandContext(cmd.Context(), "go", args...)
	process.Dir = dir
	var output bytes.Buffer
	process.Stdout, process.Stderr = &output, &output
	err := process.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s: Go is not installed: see https://go.dev/dl; the files are in %s", line, dir)
	case err != nil:
		return fmt.Errorf("%s in %s: %w\n%s", line, dir, err, strings.TrimSpace(output.String()))
	}
	return nil
}
