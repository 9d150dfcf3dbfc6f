// Package explaincmd is "armature explain": why an object doesn't run.
package explaincmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// New returns the command.
func New() *cobra.Command {
	kube := connect.Flags()
	format := output.New("json", "yaml", "name")
	cmd := &cobra.Command{
		Use:   "explain (KIND/NAME | KIND NAME) [NODE]",
		Short: "Explain why an object doesn't run",
		Long: `Explain why an object doesn't run. The command searches from the object down to its pods, and prints the first problem in one
sentence, the object with the problem, and the next step. It supports Armature's kinds (jf, dj, rj, fj, mc), Jobs, Pods, Deployments,
StatefulSets, PersistentVolumeClaims and others, and custom resources whose operators create these kinds. NODE selects one node of a
JobFlow.

The exit code is 0 if there is no problem (the object runs, starts, waits in a queue, or has succeeded), 1 if there is one, and 2 if
the cause is unknown or an error occurs.`,
		Example: "  armature explain jobflow/nightly\n  armature explain jobflow/nightly build\n  armature explain fj train -n team-a -o json",
		Args:    cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return exitcode.Or(exitcode.Trouble, err)
			}
			object, node, err := connect.Split(args)
			if err != nil {
				return exitcode.Or(exitcode.Trouble, err)
			}
			return exitcode.Or(exitcode.Trouble, run(cmd.Context(), kube, format, cmd.OutOrStdout(), cmd.ErrOrStderr(), object, node))
		},
	}
	exitcode.ForUsage(cmd, exitcode.Trouble)
	cmd.ValidArgsFunction = complete.Names(kube, "jobflow", "daemonjob", "replicajob", "fluxjob", "minicluster", "job", "pod")
	kube.AddFlags(cmd.Flags())
	format.AddTo(cmd.Flags())
	return cmd
}

func run(
	ctx context.Context, kube *genericclioptions.ConfigFlags, format *output.Flag, out, errs io.Writer, args []string, node string,
) error {
	cluster, members, err := family.Read(ctx, kube, args, family.Source{})
	if err != nil {
		return err
	}
	found, err := Of(ctx, cluster, members, node, time.Now())
	if err != nil {
		return err
	}
	for _, unread := range found.Unread {
		fmt.Fprintln(errs, "not read:", unread)
	}
	if err := write(out, format, found.Finding); err != nil {
		return err
	}
	switch {
	case found.Finding.Wrong():
		return &exitcode.Error{Code: exitcode.Found}
	case found.Unsure:
		return &exitcode.Error{Code: exitcode.Trouble} // the unread objects are printed above
	}
	return nil
}

// Explanation is the finding about an object, and what could not be read of the object's environment.
type Explanation struct {
	Finding diagnose.Finding
	// Unread are the kinds that could not be discovered or listed, and the objects that could not be read, each with the API server's message.
	Unread []error
	// Unsure is true if there is no problem in what could be read, but may be one in the rest. The message of the finding says so.
	Unsure bool
}

// Of explains an object, or with a node's name one node of a JobFlow. It gets the object's family, and reads the events and the objects
// that the family's pods need.
func Of(
	ctx context.Context, cluster *connect.Cluster, members family.Family, node string, now time.Time,
) (Explanation, error) {
	facts, unread, err := gather(ctx, cluster, members, now)
	if err != nil {
		return Explanation{}, err
	}
	found, err := diagnosed(facts, node)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Finding: found, Unread: slices.Concat(members.Unread, unread)}
	e.Unsure = len(e.Unread) > 0 && !found.Wrong() && found.Phase != diagnose.Succeeded
	if e.Unsure {
		e.Finding.Message += "; but not all of its objects could be read"
	}
	return e, nil
}
