// Package watchcmd is "armature watch": a flow as it runs, live on a terminal, a line for each change elsewhere.
package watchcmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
)

// ErrFailed is what watching a flow that failed returns, so that scripts see it in the exit code.
var ErrFailed = &exitcode.Error{Code: exitcode.Found} // the table has said why

// New returns the command.
func New() *cobra.Command {
	kube := genericclioptions.NewConfigFlags(true)
	cmd := &cobra.Command{
		Use:   "watch jobflow/NAME",
		Short: "Show a flow as it runs, until it has ended",
		Long: `Show a flow as it runs, until it has ended. The exit code is 0 if it succeeded and 1 if it failed.

On a terminal the table is redrawn in place. Elsewhere (in a pipe, in CI) each change is a line of its own.`,
		Example: "  armature watch jobflow/jobflow-example\n  armature watch jf jobflow-example -n team-a",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := flowName(args)
			if err != nil {
				return err
			}
			streams := genericiooptions.IOStreams{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), ErrOut: cmd.ErrOrStderr()}
			return run(cmd.Context(), kube, streams, name)
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, "jobflow")
	kube.AddFlags(cmd.Flags())
	return cmd
}

// flowName reads "jobflow/NAME" or "jobflow NAME", with the kind's other names.
func flowName(args []string) (string, error) {
	kind, name, ok := strings.Cut(strings.Join(args, "/"), "/")
	if !ok || name == "" || strings.Contains(name, "/") {
		return "", fmt.Errorf("want jobflow/NAME, got %q", strings.Join(args, " "))
	}
	switch strings.ToLower(kind) {
	case "jobflow", "jobflows", "jf", "jobflow.api.practice.com", "jobflows.api.practice.com":
		return name, nil
	default:
		return "", fmt.Errorf("can watch a jobflow (jf), got kind %q", kind)
	}
}
