// Package newcmd is "armature new" and "armature upgrade-project": it writes the project of an operator, and moves it to a new version of
// Armature. Package scaffold has the files.
package newcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/cmd/armature/internal/scaffold"
)

// options are the flags of new and new kind.
type options struct {
	kind, group, version string
	from                 string
	dsoi                 bool

	module string
	source source
}

// New returns the command new.
func New(version string) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "new NAME --kind KIND --group GROUP",
		Short: "Create a Go project with an operator for your own kind",
		Long: `Create a Go module with an operator for your own kind, in the new directory NAME: the types, the plan, its tests, a program with
preview, metrics and health, a chart, an image, and a CI workflow. The go command then adds the dependencies and generates the CRD
and the role.

The first plan runs a Deployment with a configuration. With --from, the kind is that of an existing CustomResourceDefinition,
and go generate restricts the definition to the values that the Go types can read. With --dsoi, the kind is a distributed application
that package dsoi installs and upgrades.`,
		Example: "  armature new backup --kind Backup --group example.com\n" +
			"  armature new backup --from crd.yaml\n  armature new shop --kind Shop --group example.com --dsoi",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.newProject(cmd, args[0], version) },
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.version, "version", "v1", "`version` of the kind")
	cmd.Flags().StringVar(&o.group, "group", "", "API `group` of the kind: a domain that you own")
	cmd.Flags().StringVar(&o.module, "module", "", "`path` of the Go module (default: GROUP/NAME)")
	o.source.addFlags(cmd)
	cmd.AddCommand(newKind())
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.kind, "kind", "", "`name` of the kind, such as Backup; with --from a file of several kinds, the one to use")
	cmd.Flags().StringVar(&o.from, "from", "", "`file` with the CustomResourceDefinition of the kind")
	cmd.Flags().BoolVar(&o.dsoi, "dsoi", false, "make the kind a distributed application, described by its nodes")
	cmd.MarkFlagsMutuallyExclusive("from", "dsoi")
}

// newKind returns the command new kind.
func newKind() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "kind KIND [DIRECTORY]",
		Short: "Add a kind to a project of armature new",
		Long: `Add a kind with its operator, its tests and its sample to the project in a directory, by default the working directory. A kind
in a project created with --from also needs a CustomResourceDefinition; in one created with --dsoi it is a distributed application.`,
		Example: "  armature new kind Restore\n  armature new kind Restore backup\n  armature new kind Restore --from crd.yaml",
		Args:    cobra.RangeArgs(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.addKind(cmd, args) },
	}
	cmd.Flags().StringVar(&o.from, "from", "", "`file` with the CustomResourceDefinition of the kind")
	return cmd
}

// newProject writes a project.
func (o *options) newProject(cmd *cobra.Command, name, version string) error {
	k, notes, err := o.describe(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	p := scaffold.Project{Name: name, Module: cmp.Or(o.module, k.Group+"/"+name)}
	if p.Armature, p.ArmatureDir, err = o.source.resolve(version); err != nil {
		return err
	}
	files, err := scaffold.New(p, k)
	if err != nil {
		return err
	}
	if entries, err := os.ReadDir(name); err == nil && len(entries) > 0 {
		return fmt.Errorf("the directory %s exists and isn't empty; give another name, or remove it", name)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := scaffold.Write(name, files); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "created %s: %d files\n", name, len(files))
	for _, f := range files {
		fmt.Fprintf(out, "  %s\n", f.Path)
	}
	if err := complete(cmd, name); err != nil {
		return err
	}
	writeNotes(cmd, k, notes)
	if p.ArmatureDir != "" {
		fmt.Fprintf(out, "it builds with the source tree %s, so only on this machine; "+
			"for others: armature upgrade-project --armature-version VERSION\n", p.ArmatureDir)
	}
	fmt.Fprintf(out, "next: cd %s; make test; make run\n", name)
	return nil
}

// addKind adds a kind to a project.
func (o *options) addKind(cmd *cobra.Command, args []string) error {
	dir := "."
	if len(args) > 1 {
		dir = args[1]
	}
	p, err := scaffold.Open(dir)
	if err != nil {
		return err
	}
	o.kind, o.group, o.version, o.dsoi = args[0], p.Group, p.APIVersion, p.Variant == scaffold.DSOI
	k, notes, err := o.describe(func(string) bool { return false })
	if err != nil {
		return err
	}
	paths, err := p.AddKind(k)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "added the kind %s to %s:\n", k.Kind, p.Name)
	for _, path := range paths {
		fmt.Fprintf(out, "  %s\n", path)
	}
	if err := complete(cmd, dir); err != nil {
		return err
	}
	writeNotes(cmd, k, notes)
	fmt.Fprintln(out, "next: make test; make run")
	return nil
}

// describe returns the kind that the flags describe.
func (o *options) describe(given func(flag string) bool) (scaffold.Kind, []string, error) {
	if o.from == "" {
		k := scaffold.Kind{Group: o.group, APIVersion: o.version, Kind: o.kind, Variant: scaffold.Plain}
		if o.dsoi {
			k.Variant = scaffold.DSOI
		}
		if err := k.Check(); err != nil {
			return k, nil, err
		}
		k, err := k.WithSample()
		return k, nil, err
	}
	text, err := os.ReadFile(o.from)
	if err != nil {
		return scaffold.Kind{}, nil, fmt.Errorf("--from: %w", err)
	}
	k, notes, err := scaffold.FromCRD(text, o.kind)
	switch {
	case err != nil:
		return k, nil, fmt.Errorf("--from: %s: %w", o.from, err)
	case given("group") && o.group != k.Group:
		return k, nil, fmt.Errorf("--group: %q; the CustomResourceDefinition is of the group %s", o.group, k.Group)
	case given("version") && o.version != k.APIVersion:
		return k, nil, fmt.Errorf("--version: %q; the stored version of the CustomResourceDefinition is %s", o.version, k.APIVersion)
	}
	return k, notes, nil
}

// writeNotes says where the sample may be wrong.
func writeNotes(cmd *cobra.Command, k scaffold.Kind, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(cmd.OutOrStdout(), "check %s: %s\n", filepath.Join("samples", k.Lower()+".yaml"), note)
	}
}
