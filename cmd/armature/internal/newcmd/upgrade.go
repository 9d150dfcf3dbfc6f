package newcmd

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/cmd/armature/internal/scaffold"
)

// module is the path of Armature's module; those of its tools begin with it.
const module = "github.com/armature-dev/armature"

// NewUpgrade returns the command upgrade-project.
func NewUpgrade(version string) *cobra.Command {
	to := &source{}
	cmd := &cobra.Command{
		Use:   "upgrade-project [DIRECTORY]",
		Short: "Move a project of armature new to another version of Armature, and report the changes",
		Long: `Move a project of armature new to another version of Armature: by default that of this program. The default directory is the
working directory. The command sets the versions in go.mod and the Makefile, adds the check of plans to the target lint of an earlier
project, and generates the code, the CRDs and the role again. It then reports the changed files, the permissions that the role gained
and lost, and code that no longer compiles. It changes no other file.`,
		Example: "  armature upgrade-project\n  armature upgrade-project --armature-version v0.2.0 backup",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return upgrade(cmd, dir, to, version)
		},
	}
	to.addFlags(cmd)
	return cmd
}

func upgrade(cmd *cobra.Command, dir string, to *source, built string) error {
	p, err := scaffold.Open(dir)
	if err != nil {
		return err
	}
	version, tree, err := to.resolve(built)
	if err != nil {
		return err
	}
	before, err := generated(p)
	if err != nil {
		return err
	}
	addsPurity, vetsPlans, err := setMakefile(dir, version, tree)
	if err != nil {
		return err
	}
	changes := edits(version, tree)
	if vetsPlans {
		changes = append(changes, "-tool="+module+"/tools/purity")
	}
	if err := runGo(cmd, dir, append([]string{"mod", "edit"}, changes...)...); err != nil {
		return err
	}
	if err := complete(cmd, dir); err != nil {
		return err
	}
	after, err := generated(p)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: Armature %s -> %s\n", p.Name, p.Armature, describeVersion(version, tree))
	if changed := differing(before, after); len(changed) > 0 {
		fmt.Fprintf(out, "changed: %s\n", strings.Join(changed, ", "))
	} else {
		fmt.Fprintln(out, "no generated file changed")
	}
	if addsPurity {
		fmt.Fprintln(out, "Makefile: make lint now checks that plans are pure")
	}
	if err := writeRoleChanges(cmd, before[role(p)], after[role(p)]); err != nil {
		return err
	}
	if err := runGo(cmd, dir, "vet", "./..."); err != nil {
		return fmt.Errorf("the new version needs changes of your code: %w", err)
	}
	return nil
}

func describeVersion(version, tree string) string {
	if tree != "" {
		return tree
	}
	return version
}

// edits are arguments of go mod edit that set the version, or the directory that replaces it.
func edits(version, tree string) []string {
	var args []string
	for _, path := range []string{module, module + "/tools/image", module + "/tools/purity"} {
		args = append(args, "-require="+path+"@"+version)
		if tree == "" {
			args = append(args, "-dropreplace="+path)
		} else {
			args = append(args, "-replace="+path+"="+tree+strings.TrimPrefix(path, module))
		}
	}
	return args
}

var (
	devclusterLine = regexp.MustCompile(`(?m)^DEVCLUSTER \?= .*$`)
	vetOfLint      = regexp.MustCompile(`(?m)^lint:.*\n(?:\t.*\n)*?\tgo vet \./\.\.\.\n`)
)

// setMakefile sets where the Makefile has devcluster from. It adds the check of plans to a target lint from before there was one, unless
// the Makefile mentions purity. vetsPlans reports whether the Makefile has the check, also since an upgrade that was interrupted.
func setMakefile(dir, version, tree string) (addsPurity, vetsPlans bool, err error) {
	file := filepath.Join(dir, "Makefile")
	text, err := os.ReadFile(file)
	if err != nil {
		return false, false, err
	}
	line := "DEVCLUSTER ?= " + scaffold.Devcluster(version, tree)
	text = devclusterLine.ReplaceAllLiteral(text, []byte(line))
	if at := vetOfLint.FindIndex(text); at != nil && !bytes.Contains(text, []byte("purity")) {
		text = slices.Insert(text, at[1], []byte("\t"+scaffold.VetPlans+"\n")...)
		addsPurity = true
	}
	return addsPurity, bytes.Contains(text, []byte(scaffold.VetPlans)), os.WriteFile(file, text, 0o644) //nolint:gosec // a file to commit
}

// role is the path of the generated role.
func role(p *scaffold.Existing) string {
	return filepath.Join("charts", p.Name, "templates", "role.yaml")
}

// generated returns the generated files of a project, by their paths.
func generated(p *scaffold.Existing) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(p.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(p.Dir, path)
		if err != nil {
			return err
		}
		isCRD := strings.HasPrefix(relative, filepath.Join("charts", p.Name, "crds")+string(filepath.Separator))
		if !isCRD && relative != role(p) && filepath.Base(path) != "zz_generated.deepcopy.go" {
			return nil
		}
		files[relative], err = os.ReadFile(path)
		return err
	})
	return files, err
}

// differing returns the paths whose files differ.
func differing(before, after map[string][]byte) []string {
	var paths []string
	for path, text := range after {
		if !bytes.Equal(before[path], text) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// writeRoleChanges writes the permissions that differ.
func writeRoleChanges(cmd *cobra.Command, before, after []byte) error {
	was, err := rbac.Parse(before)
	if err != nil {
		return err
	}
	is, err := rbac.Parse(after)
	if err != nil {
		return err
	}
	for _, c := range rbac.Diff(was, is) {
		fmt.Fprintf(cmd.OutOrStdout(), "role: %s\n", c)
	}
	return nil
}
