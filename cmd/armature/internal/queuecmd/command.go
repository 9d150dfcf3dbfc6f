// Package queuecmd is "armature queue": what FluxSetups have given, and who waits for what and why.
package queuecmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
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
for the others the information in the FluxSetup's status. Without the permission to list FluxSetups, which are cluster-scoped, it shows
the queues that your jobs wait in.`,
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
	all, err := read(ctx, cluster, args, errs)
	if err != nil {
		return err
	}
	return write(out, format, all, time.Now())
}

// read returns the queues, or the one that was asked for, and prints what the user may not read of them. A user who may not list
// FluxSetups, which are cluster-scoped, gets the queues that jobs wait in, and of those what he may read.
func read(ctx context.Context, cluster *connect.Cluster, args []string, errs io.Writer) ([]Queue, error) {
	setups, err := readSetups(ctx, cluster, args)
	forbidden := apierrors.IsForbidden(err)
	if err != nil && !forbidden {
		return nil, err
	}
	jobs, isRead, jobsErr := readJobs(ctx, cluster, errs)
	if jobsErr != nil {
		return nil, jobsErr
	}
	managers, leasesErr := leader.Read(ctx, cluster.Client, "")
	if leasesErr == nil { // few users may list leases
		writeGone(errs, setups, jobs, managers, time.Now())
	}
	if !forbidden {
		return newQueues(setups, jobs, len(args) == 0), nil
	}
	if !isRead {
		return nil, err
	}
	waiting := waitingIn(jobs)
	names := args
	if len(args) == 0 {
		names = slices.Sorted(maps.Keys(waiting))
	}
	return readEach(ctx, cluster, names, jobs, waiting, errs)
}

// writeGone names the queues with waiting jobs of which no manager runs.
func writeGone(w io.Writer, setups []v1alpha1.FluxSetup, jobs []v1alpha1.FluxJob, managers []leader.Manager, now time.Time) {
	waiting := waitingIn(jobs)
	written := map[string]time.Time{} // the last status of a job, by queue
	for i := range jobs {
		if at, queue := statusWritten(&jobs[i]), queueOf(&jobs[i]); at.After(written[queue]) {
			written[queue] = at
		}
	}
	for i := range setups {
		of := &setups[i]
		if len(waiting[of.Name]) == 0 {
			continue
		}
		last := written[of.Name]
		if at := statusWritten(of); at.After(last) {
			last = at
		}
		worksOn := func(m leader.Manager) bool { return m.Scope.Covers("FluxSetup", of) }
		if gone := leader.Gone(managers, worksOn, last, now); len(gone) > 0 {
			fmt.Fprintf(w, "FluxSetup/%s: no manager runs, so no job is admitted: %s\n", of.Name, leader.SinceWhen(gone, now))
		}
	}
}

// statusWritten returns when the status of an object was written last, as far as it is recorded.
func statusWritten(obj client.Object) time.Time {
	var last time.Time
	for _, f := range obj.GetManagedFields() {
		if f.Subresource == "status" && f.Time != nil && f.Time.After(last) {
			last = f.Time.Time
		}
	}
	return last
}

// readEach returns queues by their names, also if the user may read only some of the FluxSetups.
func readEach(
	ctx context.Context, cluster *connect.Cluster, names []string, jobs []v1alpha1.FluxJob, waiting map[string][]*v1alpha1.FluxJob,
	errs io.Writer,
) ([]Queue, error) {
	all := []Queue{}
	var forbidden error
	for _, name := range names {
		var setup v1alpha1.FluxSetup
		switch err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, &setup); {
		case err == nil:
			all = append(all, newQueues([]v1alpha1.FluxSetup{setup}, jobs, false)...)
		case apierrors.IsNotFound(err):
			all = append(all, NewMissing(name, waiting[name]))
		case apierrors.IsForbidden(err):
			all, forbidden = append(all, newHidden(name, waiting[name])), err
		default:
			return nil, err
		}
	}
	if forbidden != nil {
		fmt.Fprintln(errs, "not shown: quota, usage and admitted jobs:", forbidden)
	}
	return all, nil
}

// readSetups returns all FluxSetups, or the one that was asked for.
func readSetups(ctx context.Context, cluster *connect.Cluster, args []string) ([]v1alpha1.FluxSetup, error) {
	if len(args) == 1 {
		setup := v1alpha1.FluxSetup{}
		err := cluster.Client.Get(ctx, client.ObjectKey{Name: args[0]}, &setup)
		return []v1alpha1.FluxSetup{setup}, err
	}
	var setups v1alpha1.FluxSetupList
	err := cluster.Client.List(ctx, &setups)
	slices.SortFunc(setups.Items, func(a, b v1alpha1.FluxSetup) int { return cmp.Compare(a.Name, b.Name) })
	return setups.Items, err
}

// readJobs returns all FluxJobs that the user may read, and prints which are missing. It reports whether he may read any.
func readJobs(ctx context.Context, cluster *connect.Cluster, errs io.Writer) (all []v1alpha1.FluxJob, isRead bool, err error) {
	var jobs v1alpha1.FluxJobList
	err = cluster.Client.List(ctx, &jobs)
	if apierrors.IsForbidden(err) {
		fmt.Fprintln(errs, "not shown: jobs of other namespaces:", err)
		err = client.IgnoreNotFound(cluster.Client.List(ctx, &jobs, client.InNamespace(cluster.Namespace)))
		if apierrors.IsForbidden(err) {
			fmt.Fprintf(errs, "not shown: jobs of namespace %s: %v\n", cluster.Namespace, err)
			return nil, false, nil
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("list fluxjobs: %w", err)
	}
	return jobs.Items, true, nil
}
