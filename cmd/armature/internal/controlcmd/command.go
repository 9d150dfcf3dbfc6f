// Package controlcmd has the commands that ask something of what runs: "armature suspend", "resume", "terminate",
// "retry", "pause", "unpause" and "undo". They find objects as kubectl does, by kind and name, by label, or from files, and change one
// field of the spec, or annotations.
package controlcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// New returns the commands.
func New() []*cobra.Command {
	var all []*cobra.Command
	for _, a := range actions {
		all = append(all, newCommand(a))
	}
	return all
}

func newCommand(a action) *cobra.Command {
	kube := genericclioptions.NewConfigFlags(true)
	print := genericclioptions.NewPrintFlags(a.done)
	find := genericclioptions.NewResourceBuilderFlags().WithFile(false, nil).WithLabelSelector("").WithAll(false).WithLatest()
	find.FileNameFlags.Usage = "Manifests with the objects."
	cmd := &cobra.Command{
		Use:     a.verb + " (KIND NAME | KIND/NAME ... | -f FILENAME)",
		Short:   a.short,
		Long:    a.long + "\n\nKinds: " + a.kinds() + ".",
		Example: a.example,
		RunE: func(cmd *cobra.Command, args []string) error {
			printer, err := print.ToPrinter()
			if err != nil {
				return err
			}
			if err := print.Complete("%s (no change)"); err != nil {
				return err
			}
			unchanged, err := print.ToPrinter()
			if err != nil {
				return err
			}
			var errs []error
			found := 0
			err = find.ToBuilder(kube, args).Do().Visit(func(info *resource.Info, err error) error {
				found++
				isNews := false
				if err == nil {
					isNews, err = a.ask(info)
				}
				if _, ok := errors.AsType[*unneeded](err); ok && isSelection(find) {
					_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: skipped: %v\n", nameOf(info), err)
					return err
				}
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", nameOf(info), err))
					return nil // the others are asked all the same
				}
				if !isNews {
					return unchanged.PrintObj(info.Object, cmd.OutOrStdout())
				}
				return printer.PrintObj(info.Object, cmd.OutOrStdout())
			})
			if err == nil && found == 0 {
				err = errors.New("no objects found")
			}
			return connect.WithNearest(kube, errors.Join(append(errs, err)...))
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, a.completed()...)
	kube.AddFlags(cmd.Flags())
	print.AddFlags(cmd)
	find.AddFlags(cmd.Flags())
	return cmd
}

// isSelection reports whether a command selects objects by label or takes all of a kind, instead of objects that the user names.
func isSelection(find *genericclioptions.ResourceBuilderFlags) bool {
	return *find.All || *find.LabelSelector != ""
}

// nameOf names an object as it was asked for, if it is known.
func nameOf(info *resource.Info) string {
	if info == nil {
		return "an object"
	}
	return info.ObjectName()
}

// ask changes an object on the server so that the action is asked for, and reports whether it wasn't before.
func (a action) ask(info *resource.Info) (isNews bool, err error) {
	before, ok := info.Object.(*unstructured.Unstructured)
	if !ok {
		return false, fmt.Errorf("unexpected type %T", info.Object)
	}
	server := resource.NewHelper(info.Client, info.Mapping).WithFieldManager("armature")
	return a.send(before, func(patch []byte) error {
		changed, err := server.Patch(info.Namespace, info.Name, types.MergePatchType, patch, nil)
		if err != nil {
			return err
		}
		return info.Refresh(changed, true)
	}, func() (*unstructured.Unstructured, error) {
		err := info.Get()
		now, _ := info.Object.(*unstructured.Unstructured)
		return now, err
	})
}
