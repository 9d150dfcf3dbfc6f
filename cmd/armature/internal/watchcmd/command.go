// Package watchcmd is "armature watch": a flow or a job as it runs, live on a terminal, otherwise a line for each change.
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
		Short: "Watch a flow or a job until it ends",
		Long: `Watch a flow or a job until it ends: its progress, its parts, and the last output of the failed parts. The exit code is 0 if it
succeeded, 1 if it failed, and 130 if you interrupt the command. An invalid spec counts as a failure, because the object can't progress
until the spec changes.

On a terminal the command redraws a table in place. In a pipe or in CI it prints a line for each change.

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
