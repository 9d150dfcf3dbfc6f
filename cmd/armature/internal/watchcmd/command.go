// Package watchcmd is "armature watch": a flow or a job as it runs, live on a terminal, a line for each change elsewhere.
package watchcmd

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
)

// ErrFailed is what watching something that failed returns, so that scripts see it in the exit code.
var ErrFailed = &exitcode.Error{Code: exitcode.Found} // the table has said why

// New returns the command.
func New() *cobra.Command {
	kube := connect.Flags()
	cmd := &cobra.Command{
		Use:   "watch (KIND/NAME | KIND NAME)",
		Short: "Show a flow or a job as it runs, until it has ended",
		Long: `Show a flow or a job as it runs, until it has ended: how far it is, its parts, and below those that failed what they printed
last. The exit code is 0 if it succeeded and 1 if it failed. A spec that is invalid is a failure too: nothing will happen
before it is changed.

On a terminal the table is redrawn in place. Elsewhere (in a pipe, in CI) each change is a line of its own.

Kinds: ` + strings.Join(completed(), ", ") + `.`,
		Example: "  armature watch jobflow/jobflow-example\n  armature watch dj upgrade -n team-a",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			streams := genericiooptions.IOStreams{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), ErrOut: cmd.ErrOrStderr()}
			return run(cmd.Context(), kube, streams, args)
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, completed()...)
	kube.AddFlags(cmd.Flags())
	return cmd
}
