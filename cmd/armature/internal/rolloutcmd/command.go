// Package rolloutcmd is "armature rollout": how a new version of the manager changes existing objects in turns, and how to stop it.
package rolloutcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/release"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// New returns the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rollout",
		Short: "Show, abort and resume the roll-out of a new version of the operators",
		Long: `Show, abort and resume the roll-out of a new version. A new version of the manager, or of any program that uses builder/release,
makes disruptive changes (it restarts pods, deletes or recreates objects, or scales down) for a few existing objects at a time. It
continues with the next ones when these are ready.`,
	}
	cmd.AddCommand(newStatus(), newDecision(
		"abort", "aborted", "Abort a roll-out: no further object is changed",
		"Abort the roll-out: no further object is changed until you resume the roll-out or start another version. An object that is\n"+
			"being changed completes.",
		release.Abort, false,
	), newDecision(
		"resume", "resumed", "Continue an aborted or halted roll-out",
		"Continue an aborted roll-out, or one that halted because an object failed or wasn't ready in time. The roll-out skips that object.",
		release.Resume, true,
	))
	return cmd
}

func newStatus() *cobra.Command {
	kube := connect.Flags()
	format := output.New("json", "yaml")
	cmd := &cobra.Command{
		Use:   "status [OPERATOR]",
		Short: "Show the last roll-out of each operator, with the objects that are being changed and those that wait",
		Long: `Show the last roll-out of each operator, or of one of them. The state is Progressing, Halted (an object has failed or wasn't ready
in time), Aborted or Complete. Without -n the command reads the records of all namespaces.`,
		Example: "  armature rollout status\n  armature rollout status jobflow -o json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			c, all, unread := find(cmd.Context(), kube, args, true)
			if len(all) == 0 && unread != nil {
				return unread
			}
			if c != nil {
				if managers, err := leader.Read(cmd.Context(), c, ""); err == nil { // few users may list leases
					writeGone(cmd.ErrOrStderr(), all, managers, time.Now())
				}
			}
			if encoded, err := format.Encode(cmd.OutOrStdout(), all); encoded || err != nil {
				return errors.Join(err, unread)
			}
			return errors.Join(write(cmd.OutOrStdout(), all, time.Now()), unread)
		},
	}
	kube.AddFlags(cmd.Flags())
	format.AddTo(cmd.Flags())
	return cmd
}

// newDecision returns a command that changes the roll-outs in progress, and needs their owners or not.
func newDecision(
	verb, done, short, long string, decide func(context.Context, client.Client, *release.Rollout) error, withOwners bool,
) *cobra.Command {
	kube := connect.Flags()
	cmd := &cobra.Command{
		Use:   verb + " [OPERATOR]",
		Short: short,
		Long: long + `
Without the name of an operator, the command applies to all incomplete roll-outs.`,
		Example: "  armature rollout " + verb + "\n  armature rollout " + verb + " jobflow",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, all, unread := find(cmd.Context(), kube, args, withOwners)
			found := len(all)
			if len(args) == 0 {
				all = slices.DeleteFunc(all, func(r *release.Rollout) bool { return r.State == release.Complete })
			}
			if len(all) == 0 {
				return cmp.Or(unread, nothingTo(verb, found, *kube.Namespace))
			}
			errs := []error{unread}
			for _, r := range all {
				was := r.State
				if err := decide(cmd.Context(), c, r); err != nil {
					errs = append(errs, err)
					continue
				}
				noChange := ""
				if r.State == was {
					noChange = " (no change)"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: roll-out %s %s%s\n", r.Operator, output.Line(r.ID), done, noChange)
			}
			return errors.Join(errs...)
		},
	}
	kube.AddFlags(cmd.Flags())
	return cmd
}

// find returns the roll-outs that the arguments name, with their owners or without, and an error about those that can't be read.
func find(
	ctx context.Context, kube *genericclioptions.ConfigFlags, args []string, withOwners bool,
) (client.Client, []*release.Rollout, error) {
	cluster, err := connect.Open(kube)
	if err != nil {
		return nil, nil, err
	}
	found, err := release.List(ctx, cluster.Client, *kube.Namespace, args...)
	if withOwners {
		found = slices.DeleteFunc(found, func(r *release.Rollout) bool {
			unread := r.ReadOwners(ctx, cluster.Client)
			err = errors.Join(err, unread)
			return unread != nil
		})
	}
	if len(found) > 0 || err != nil || len(args) == 0 {
		return cluster.Client, found, err
	}
	var names []string
	all, err := release.List(ctx, cluster.Client, *kube.Namespace)
	for _, r := range all {
		names = append(names, output.Line(r.Operator))
	}
	return nil, nil, errors.Join(unknown(args[0], names, *kube.Namespace), err)
}

// nothingTo returns why there is no roll-out to abort or resume, of those that were found in a namespace, or in all.
func nothingTo(verb string, found int, namespace string) error {
	if found == 0 {
		return fmt.Errorf("nothing to %s: there are no roll-outs%s", verb, in(namespace))
	}
	return fmt.Errorf("nothing to %s: all roll-outs%s are complete", verb, in(namespace))
}

// unknown returns the error of an operator without a roll-out beside those of others.
func unknown(operator string, others []string, namespace string) error {
	if len(others) == 0 {
		return fmt.Errorf("the operator %q has no roll-out: there are no roll-outs%s", operator, in(namespace))
	}
	return fmt.Errorf("the operator %q has no roll-out%s; there are roll-outs of: %s", operator, in(namespace), strings.Join(others, ", "))
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// writeGone names the roll-outs, in progress or halted, whose operator doesn't run.
func writeGone(w io.Writer, all []*release.Rollout, managers []leader.Manager, now time.Time) {
	for _, r := range all {
		if r.State != release.Progressing && r.State != release.Halted {
			continue
		}
		worksOn := func(m leader.Manager) bool {
			return r.Record == client.ObjectKey{Namespace: m.Namespace, Name: m.Lease + leader.RolloutSuffix + "-" + r.Operator}
		}
		if gone := leader.Gone(managers, worksOn, r.Written, now); len(gone) > 0 {
			fmt.Fprintf(w, "%s: no manager runs, so the roll-out doesn't continue: %s\n", r.Operator, leader.SinceWhen(gone, now))
		}
	}
}

// write shows roll-outs for people.
func write(w io.Writer, all []*release.Rollout, now time.Time) error {
	var b strings.Builder
	if len(all) == 0 {
		b.WriteString("no roll-outs\n")
	}
	for _, r := range all {
		fmt.Fprintf(&b, "%s: %s, roll-out %s", r.Operator, r.State, output.Line(r.ID))
		if r.State != release.Complete {
			fmt.Fprintf(&b, ", %d of %d objects wait, at most %s in their turn", len(r.Waiting), r.Owners, output.Line(r.MaxOwners))
		}
		b.WriteString("\n")
		for _, o := range r.InTurn {
			line(&b, "in turn", o, now)
		}
		for _, o := range r.Waiting[:min(shown, len(r.Waiting))] {
			line(&b, "waits", o, now)
		}
		if more := len(r.Waiting) - shown; more > 0 {
			fmt.Fprintf(&b, "  and %d more wait\n", more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shown is how many of the objects that wait are shown.
const shown = 10

func line(b *strings.Builder, how string, o release.Owner, now time.Time) {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + o.Name
	}
	fmt.Fprintf(b, "  %-8s %s %s", how, o.Kind, name)
	if o.Since != nil {
		b.WriteString(" for " + duration.HumanDuration(now.Sub(o.Since.Time)))
	}
	if o.Why != "" {
		b.WriteString(": " + output.Line(o.Why))
	}
	switch {
	case o.Passed:
		b.WriteString(" (not waited for)")
	case o.Halts:
		b.WriteString(" (halts the roll-out)")
	}
	b.WriteString("\n")
}
