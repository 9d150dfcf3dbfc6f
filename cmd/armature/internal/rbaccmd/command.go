// Package rbaccmd is "armature rbac": what a change of a role grants and revokes.
package rbaccmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
)

// New returns the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rbac",
		Short: "Compare the roles of two versions of an operator",
		Long: `Compare the roles of two versions of an operator. In a project of armature new, go generate derives the role from the operator's
declarations.`,
	}
	cmd.AddCommand(newDiff())
	return cmd
}

func newDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show which permissions a new role grants and revokes",
		Long: `Show the permissions that the roles in the file NEW add to those in the file OLD (+), and those that they remove (-). Each line has
one verb on one resource or URL, so roles with the same permissions in another notation have no difference.

The exit code is 0 without a difference, 2 with one, and 1 after an error.`,
		Example: "  armature rbac diff v1/role.yaml v2/role.yaml\n" +
			"  armature rbac diff <(git show v1:charts/backup/templates/role.yaml) charts/backup/templates/role.yaml",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := rbac.ReadFile(args[0])
			if err != nil {
				return err
			}
			after, err := rbac.ReadFile(args[1])
			if err != nil {
				return err
			}
			changes := rbac.Diff(before, after)
			for _, c := range changes {
				fmt.Fprintln(cmd.OutOrStdout(), c)
			}
			if len(changes) > 0 {
				return &exitcode.Error{Code: 2}
			}
			return nil
		},
	}
}
