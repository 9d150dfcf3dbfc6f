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
		Long: "Show an object and everything below it: its children and their children, with the state and the age of each. " +
			`If an object has more than
20 children of a kind, the command prints their numbers by state, and lists the failed ones.

The owner's kind determines the kinds of its children. Below other custom resources the command reads all kinds of the cluster.`,
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
	cmd.Flags().BoolVar(&all, "all", false, "list each object instead of numbers")
	return cmd
}

func run(
	ctx context.Context, kube *genericclioptions.ConfigFlags, format *output.Flag, out, errs io.Writer, args []string, all bool,
) error {
	_, found, err := family.Read(ctx, kube, args, family.Source{Stateless: true})
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
