// Package convertcmd is "armature convert": manifests of other systems become those of Armature's kinds.
package convertcmd

import (
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
		Short: "Make manifests of Armature's kinds of Volcano's, Argo's and kubeflow's, and of JobSets",
		Long: `Make manifests of Armature's kinds of those of other systems, without a cluster, and print them:

  volcano   JobFlow, JobTemplate (flow.volcano.sh)         -> JobFlow, JobTemplate
  argo      Workflow (argoproj.io): DAGs, steps, containers -> JobFlow
  kubeflow  TFJob, PyTorchJob, MPIJob and so on, TrainJob   -> ReplicaJob
  jobset    JobSet (jobset.x-k8s.io)                       -> ReplicaJob

Which it is is seen by apiVersion. Give the JobTemplates together with the JobFlow: what has several tasks becomes several Jobs. Give
the runtime together with a TrainJob: it says what runs.

What could not be carried over, or not just as it was, is said on standard error, a line each with file, line, column and field.
Nothing is left out without such a line but the status and the metadata that servers write.

What has no counterpart becomes, in a flow, a node that can't start before someone has seen to it: nothing runs that wouldn't have.

The exit code is 0 if all was carried over, at most under other names, 2 if there were other lines or "armature lint" finds something in the result, which is
printed all the same, and 1 if there is no result.`,
		Example: "  armature convert -f workflow.yaml > flow.yaml\n  armature convert -f volcano/ | armature lint -f -\n  armature convert -f job.yaml -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case len(files) == 0:
				return errors.New("want files: -f FILENAME")
			case from != "" && !slices.Contains(systems, from):
				return fmt.Errorf("--from: %q; want %s", from, strings.Join(systems, ", "))
			case format != "yaml" && format != "json":
				return fmt.Errorf("--output: %q; want yaml or json", format)
			}
			docs, err := manifest.Read(files, recursive, cmd.InOrStdin())
			if err != nil {
				return err
			}
			result, err := convert.Documents(docs, from)
			if err != nil {
				return err
			}
			return write(cmd.OutOrStdout(), cmd.ErrOrStderr(), result, format, systems)
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "files or directories with manifests; - is standard input")
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "look below the directories, too")
	cmd.Flags().StringVar(&from, "from", "", "`system` to convert from, and skip others: "+strings.Join(systems, ", "))
	cmd.Flags().StringVarP(&format, "output", "o", "yaml", "`format`: yaml or json, which is a List")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(systems, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"yaml", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func write(out, errOut io.Writer, result convert.Result, format string, systems []string) error {
	for _, other := range result.Others {
		fmt.Fprintf(errOut, "%s: %s/%s: skipped: %s is not of %s\n", other.At(""), other.Object.GetKind(), other.Object.GetName(),
			other.Object.GetAPIVersion(), strings.Join(systems, ", "))
	}
	if len(result.Objects) == 0 {
		return errors.New("there is nothing to convert")
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
	if err == nil && (differs || len(report.Findings) > 0) {
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
