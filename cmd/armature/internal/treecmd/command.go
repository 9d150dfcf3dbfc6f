// Package treecmd is "armature tree": an object and everything below it.
package treecmd

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// New returns the command.
func New() *cobra.Command {
	kube := connect.Flags()
	format := output.New("json", "yaml", "name", "wide")
	all := false
	cmd := &cobra.Command{
		Use:   "tree (KIND/NAME | KIND NAME)",
		Short: "Show an object and everything below it",
		Long: `Show an object and everything below it: what it owns, what that owns in turn, with the state and the age of each. Where there are
more than 20 of a kind below one object, they are told as counts by state, and those that have failed one by one.

Of what kinds things can be follows from the owner's kind; below custom resources of others all kinds of the cluster are
looked at.`,
		Example: "  armature tree jobflow/nightly\n  armature tree deployment web -o wide",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			return run(cmd.Context(), kube, format, cmd.OutOrStdout(), cmd.ErrOrStderr(), args, all)
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, "jobflow", "daemonjob", "replicajob", "fluxjob", "minicluster", "job", "pod")
	kube.AddFlags(cmd.Flags())
	format.AddTo(cmd.Flags())
	cmd.Flags().BoolVar(&all, "all", false, "show each object, however many there are")
	return cmd
}

func run(ctx context.Context, kube *genericclioptions.ConfigFlags, format *output.Flag, out, errs io.Writer, args []string, all bool) error {
	_, found, err := family.Read(ctx, kube, args)
	if err != nil {
		return err
	}
	for _, err := range found.Unread {
		if _, err := io.WriteString(errs, "not shown: "+err.Error()+"\n"); err != nil {
			return err
		}
	}
	return write(out, format, newBranch(found.Root), all, time.Now())
}
