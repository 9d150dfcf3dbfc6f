package newcmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// source is the Armature that a project is built with.
type source struct {
	version, dir string
}

func (s *source) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.version, "armature-version", "", "`version` of Armature to build with (default: that of this program)")
	cmd.Flags().StringVar(&s.dir, "armature-dir", "", "`directory` with Armature's source to build with "+
		"(default, if this program has no version: where it was built)")
	cmd.MarkFlagsMutuallyExclusive("armature-version", "armature-dir")
}

// released matches the versions under which a Go module can be fetched, without local changes.
var released = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// inTree is the version in go.mod of a module that a directory replaces.
const inTree = "v0.0.0"

// resolve returns the version to require, and the directory that replaces it, if there is one. built is the version of this program.
func (s *source) resolve(built string) (version, dir string, err error) {
	switch {
	case s.version != "":
		if !released.MatchString(s.version) {
			return "", "", fmt.Errorf("--armature-version: %q is no version of a Go module, such as v0.1.0", s.version)
		}
		return s.version, "", nil
	case s.dir != "":
		dir, err := filepath.Abs(s.dir)
		if err == nil {
			err = checkTree(dir)
		}
		return inTree, dir, cmp.Or(err, checkPath(dir))
	}
	if program, err := os.Executable(); err == nil { // bin/armature of a source tree
		if dir := filepath.Dir(filepath.Dir(program)); checkTree(dir) == nil {
			return inTree, dir, checkPath(dir)
		}
	}
	if released.MatchString(built) {
		return built, "", nil
	}
	return "", "", fmt.Errorf("this program has the version %s, under which there is no Go module; "+
		"give --armature-version or --armature-dir", built)
}

// checkTree returns an error unless a directory has the source of Armature.
func checkTree(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return fmt.Errorf("--armature-dir: %w", err)
	}
	if !strings.HasPrefix(string(text), "module github.com/armature-dev/armature\n") {
		return fmt.Errorf("--armature-dir: %s has another Go module than github.com/armature-dev/armature", dir)
	}
	return nil
}

// plainPath matches the paths that a Makefile, its shell and go.mod read as they are.
var plainPath = regexp.MustCompile(`^[\pL\pM\pN/._+@=~-]+$`)

// checkPath returns an error if a project can't name a directory.
func checkPath(dir string) error {
	if plainPath.MatchString(dir) {
		return nil
	}
	return fmt.Errorf("--armature-dir: %q has a character that a Makefile or go.mod can't have in a path; "+
		"a path may have letters, digits and any of /._-+@=~; move the tree, or give --armature-version", dir)
}
