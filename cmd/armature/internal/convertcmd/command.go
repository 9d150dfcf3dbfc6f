// Package convertcmd is "armature convert": manifests of other systems become those of Armature's kinds.
package convertcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/cmd/armature/internal/convert"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/lint"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// incomplete is the exit code if something could not be carried over.
var incomplete = &exitcode.Error{Code: 2}

// New returns the command.
func New() *cobra.Command {
	var files []string
	var recursive bool
	var from, format string
	systems := slices.Sorted(maps.Keys(convert.Systems))
	cmd := &cobra.Command{
		Use:   "convert -f FILENAME",
		Short: "Convert manifests of Volcano, Argo, kubeflow and JobSet to Armature's kinds",
		Long: `Convert manifests of other systems to Armature's kinds, without a cluster, and print them:

  volcano   JobFlow, JobTemplate (flow.volcano.sh)         -> JobFlow, JobTemplate
  argo      Workflow (argoproj.io): DAGs, steps, containers -> JobFlow
  kubeflow  TFJob, PyTorchJob, MPIJob and so on, TrainJob   -> ReplicaJob
  jobset    JobSet (jobset.x-k8s.io)                       -> ReplicaJob

The apiVersion identifies the system. Pass a JobFlow with its JobTemplates, because a template with several tasks becomes several
Jobs. Pass a TrainJob with its runtime, because the runtime defines its pods.

The command reports each field that it could not convert, or not exactly, on standard error with file, line, column and field. It doesn't
report the status and server-written metadata, which it omits.

In a flow, a task without a counterpart becomes a node that can't start until a user corrects it, so its dependents don't run either.

The exit code is 0 if every field was converted, possibly under another name; 2 if the command reports other fields or a manifest that it
could not convert, or if "armature lint" finds an error in the result, which is printed nevertheless; and 1 if there is no result.
Manifests of other kinds, such as a Deployment or an Application of Argo CD, are skipped with a note.`,
		Example: "  armature convert -f workflow.yaml > flow.yaml\n" +
			"  armature convert -f volcano/ | armature lint -f -\n" +
			"  armature convert -f job.yaml -o json",
		Args: manifest.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case len(files) == 0:
				return errors.New("no files: use -f FILENAME")
			case from != "" && !slices.Contains(systems, from):
				return fmt.Errorf("--from: %q; want %s", from, strings.Join(systems, ", "))
			case format != "yaml" && format != "json":
				return fmt.Errorf("--output: %q; want yaml or json", format)
			}
			docs, err := manifest.Read(files, recursive, cmd.InOrStdin())
			if err != nil {
				return err
			}
			result, failed := convert.Documents(docs, from)
			return write(cmd.OutOrStdout(), cmd.ErrOrStderr(), result, failed, format, cmp.Or(from, strings.Join(systems, ", ")))
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "files or directories with manifests; - is standard input")
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "read directories recursively")
	cmd.Flags().StringVar(&from, "from", "", "convert manifests of this `system` only: "+strings.Join(systems, ", "))
	cmd.Flags().StringVarP(&format, "output", "o", "yaml", "`format`: yaml or json, which is a List")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(systems, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"yaml", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// write writes the result; failed is the error of the manifests that aren't in it.
func write(out, errOut io.Writer, result convert.Result, failed error, format, systems string) error {
	for _, other := range result.Others {
		kind := other.Object.GetKind()
		fmt.Fprintf(errOut, "%s: %s/%s: skipped: %s of %s is not a workload of %s\n", other.At(""), kind, other.Object.GetName(),
			kind, other.Object.GetAPIVersion(), systems)
	}
	if len(result.Objects) == 0 {
		return cmp.Or(failed, errors.New("there is nothing to convert"))
	}
	if failed != nil {
		fmt.Fprintln(errOut, failed)
	}
	text, err := render(result.Objects)
	if err != nil {
		return err
	}
	made, err := manifest.Parse("<result>", []byte(text))
	if err != nil {
		return err
	}
	report, err := lint.Documents(made)
	if err != nil {
		return err
	}
	for _, note := range result.Notes {
		fmt.Fprintln(errOut, note)
	}
	for _, finding := range report.Findings {
		fmt.Fprintln(errOut, finding)
	}
	if format == "json" {
		var list []byte
		if list, err = output.JSON(map[string]any{"apiVersion": "v1", "kind": "List", "items": result.Objects}, "    "); err == nil {
			_, err = out.Write(list)
		}
	} else {
		_, err = io.WriteString(out, text)
	}
	differs := slices.ContainsFunc(result.Notes, func(n convert.Note) bool { return !n.Rename })
	if err == nil && (failed != nil || differs || len(report.Findings) > 0) {
		err = incomplete
	}
	return err
}

// render writes objects as documents of YAML.
func render(objects []map[string]any) (string, error) {
	var b strings.Builder
	for i, object := range objects {
		text, err := output.YAML(object)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
	}
	return b.String(), nil
}
