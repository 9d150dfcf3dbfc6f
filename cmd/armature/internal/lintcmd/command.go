// Package lintcmd is "armature lint", which checks manifests without a cluster.
package lintcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/lint"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// New returns the command.
func New() *cobra.Command {
	var files []string
	var recursive bool
	var format string
	cmd := &cobra.Command{
		Use:   "lint -f FILENAME",
		Short: "Find errors in manifests, without a cluster",
		Long: `Find errors in manifests, without a cluster: unknown fields, wrong types, values that the CRDs' schemas and rules refuse, and specs
that the operators refuse. Each finding is a line with file, line and column, object and field:

  flow.yaml:12:20: JobFlow/nightly: spec.flows[1].dependencies[0]: flow "b": Not found: "c"

A cluster with the CRDs and the webhook reports the same errors for a new object. The command doesn't check references to other
objects: a template, a queue, a Secret. It skips objects of other kinds with a note.

The exit code is 0 without findings, and 1 with findings, without an object, or if a file can't be read.`,
		Example: "  armature lint -f flow.yaml\n  armature lint -R -f manifests -o json\n  helm template chart | armature lint -f -",
		Args:    manifest.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return errors.New("no files: use -f FILENAME")
			}
			if format != "" && format != "json" && format != "yaml" {
				return fmt.Errorf("--output: %q; want json or yaml", format)
			}
			docs, unread := manifest.Read(files, recursive, cmd.InOrStdin())
			if len(docs) == 0 {
				unread = cmp.Or(unread, errors.New("no objects found"))
			}
			report, err := lint.Documents(docs)
			if err == nil && (len(docs) > 0 || format != "") {
				err = write(cmd.OutOrStdout(), cmd.ErrOrStderr(), report, format)
			}
			if err := errors.Join(unread, err); err != nil {
				return err
			}
			if len(report.Findings) > 0 {
				return &exitcode.Error{Code: exitcode.Found}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "files or directories with manifests; - is standard input")
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "read directories recursively")
	cmd.Flags().StringVarP(&format, "output", "o", "", "`format`: json or yaml; default: a line for each finding")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func write(out, errOut io.Writer, report lint.Report, format string) error {
	switch format {
	case "json":
		text, err := output.JSON(report, "    ")
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	case "yaml":
		text, err := output.YAML(report)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	for _, f := range report.Findings {
		if _, err := fmt.Fprintln(out, f); err != nil {
			return err
		}
	}
	for _, s := range report.Skipped {
		fmt.Fprintf(errOut, "%s: %s/%s: skipped, since %s is not of Armature\n", s.Place, s.Kind, s.Name, s.APIVersion)
	}
	fmt.Fprintf(errOut, "%s checked, %s\n", count(report.Checked, "object"), count(len(report.Findings), "finding"))
	return nil
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
