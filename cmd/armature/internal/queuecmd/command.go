// Package queuecmd is "armature queue": what FluxSetups have given, and who waits for what and why.
package queuecmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// New returns the command.
func New() *cobra.Command {
	kube := connect.Flags()
	format := output.New("json", "yaml", "name", "wide")
	cmd := &cobra.Command{
		Use:   "queue [FLUXSETUP]",
		Short: "Show the quota of queues, and the jobs that wait with their reasons",
		Long: `Show the queues of FluxJobs (FluxSetups), or one of them: the used and free quota of each resource, the admitted jobs, and the
waiting jobs in the order of the queue, with the reason of each.

With the permission to list FluxJobs in all namespaces, the command shows all of them. Otherwise it shows those of your namespace, and
for the others the information in the FluxSetup's status.`,
		Example: "  armature queue\n  armature queue default -o wide",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			return run(cmd.Context(), kube, format, cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	cmd.ValidArgsFunction = complete.Plain(kube, "fluxsetup")
	kube.AddFlags(cmd.Flags())
	format.AddTo(cmd.Flags())
	return cmd
}

func run(ctx context.Context, kube *genericclioptions.ConfigFlags, format *output.Flag, out, errs io.Writer, args []string) error {
	cluster, err := connect.Open(kube)
	if err != nil {
		return err
	}
	var setups v1alpha1.FluxSetupList
	if len(args) == 1 {
		setup := &v1alpha1.FluxSetup{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: args[0]}, setup); err != nil {
			return err
		}
		setups.Items = append(setups.Items, *setup)
	} else if err := cluster.Client.List(ctx, &setups); err != nil {
		return err
	}
	slices.SortFunc(setups.Items, func(a, b v1alpha1.FluxSetup) int { return cmp.Compare(a.Name, b.Name) })
	jobs, err := readJobs(ctx, cluster, errs)
	if err != nil {
		return err
	}
	return write(out, format, newQueues(setups.Items, jobs, len(args) == 0), time.Now())
}

// readJobs returns all FluxJobs that the user may read, and prints which are missing.
func readJobs(ctx context.Context, cluster *connect.Cluster, errs io.Writer) ([]v1alpha1.FluxJob, error) {
	var jobs v1alpha1.FluxJobList
	err := cluster.Client.List(ctx, &jobs)
	if apierrors.IsForbidden(err) {
		fmt.Fprintln(errs, "not shown: jobs of other namespaces:", err)
		err = client.IgnoreNotFound(cluster.Client.List(ctx, &jobs, client.InNamespace(cluster.Namespace)))
		if apierrors.IsForbidden(err) {
			fmt.Fprintln(errs, "not shown:", err)
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list fluxjobs: %w", err)
	}
	return jobs.Items, nil
}
