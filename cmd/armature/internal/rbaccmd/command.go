// Package rbaccmd is "armature rbac": what a change of a role grants and revokes.
package rbaccmd

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/input"
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
one verb on one resource or URL, so roles with the same permissions in another notation have no difference. Permissions of ClusterRoles
and of the Roles of each namespace are compared separately. One of the files can be - for standard input.

The exit code is 0 without a difference, 2 with one, and 1 after an error.`,
		Example: "  armature rbac diff v1/role.yaml v2/role.yaml\n" +
			"  armature rbac diff <(git show v1:charts/backup/templates/role.yaml) charts/backup/templates/role.yaml",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := read(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			after, err := read(args[1], cmd.InOrStdin())
			if err != nil {
				return err
			}
			differ := false
			scopes := maps.Clone(before)
			maps.Copy(scopes, after)
			for _, scope := range slices.Sorted(maps.Keys(scopes)) {
				for _, c := range rbac.Diff(before[scope], after[scope]) {
					differ = true
					fmt.Fprintf(cmd.OutOrStdout(), "%s%s\n", c, scope)
				}
			}
			if differ {
				return &exitcode.Error{Code: 2}
			}
			return nil
		},
	}
}

// read returns the rules of a file by where they hold, in words: "" for a ClusterRole, " in namespace x" for a Role.
func read(file string, stdin io.Reader) (map[string][]rbacv1.PolicyRule, error) {
	from, err := input.Open(file, stdin)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	roles, err := rbac.ParseRoles(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, role := range roles {
		scope := ""
		switch {
		case role.Kind == "Role" && role.Namespace == "":
			scope = " in the Role's namespace"
		case role.Kind == "Role":
			scope = " in namespace " + role.Namespace
		}
		rules[scope] = append(rules[scope], role.Rules...)
	}
	return rules, nil
}
