package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// A mistyped command is an error, not a help text with exit code 0.
func TestUnknownCommandsAreErrors(t *testing.T) {
	for _, args := range []string{"rolout", "rollout abrot", "rollout", "rbac dif a b", "rbac", "completion tcsh", "completion",
		"help rolout", "help rbac nosuch", "help tree nosuch"} {
		assert.Equal(t, 1, execute(strings.Fields("armature "+args)), args)
	}
	for _, args := range []string{"rollout --help", "help rollout", "help rollout abort", "completion bash", "rbac --help"} {
		assert.Equal(t, 0, execute(strings.Fields("armature "+args)), args)
	}
}

// Without a logger, controller-runtime would print a stack on standard error after 30 seconds.
func TestCommandsDiscardTheLogsOfLibraries(t *testing.T) {
	require.Equal(t, 0, execute(strings.Fields("armature completion bash")))
	assert.IsType(t, log.NullLogSink{}, log.Log.WithName("any").GetSink(), "the logger isn't set")
}

// What only groups commands isn't run by itself.
func TestAGroupsHelpHasNoUsageThatFails(t *testing.T) {
	for args, want := range map[string]string{
		"rbac --help": "\nUsage:\n  armature rbac [command]\n", "tree --help": "\nUsage:\n  armature tree (KIND/NAME | KIND NAME) [flags]\n",
		"new --help": "\nUsage:\n  armature new ",
	} {
		root := newCommand()
		refuseUnknown(root)
		var out strings.Builder
		root.SetOut(&out)
		root.SetArgs(strings.Fields(args))
		require.NoError(t, root.Execute())
		assert.Contains(t, out.String(), want)
	}
}

// A command that is called with too few arguments says how it is called.
func TestWrongArgumentsShowTheUsage(t *testing.T) {
	root := newCommand()
	showUsage(root)
	root.SetArgs([]string{"tree"})
	require.EqualError(t, root.Execute(), "accepts between 1 and 2 arg(s), received 0\n\nUsage: armature tree (KIND/NAME | KIND NAME) [flags]")
}

// No command prints what objects say without having it cleaned.
func TestEachCommandPrintsCleanText(t *testing.T) {
	root := newCommand()
	for _, cmd := range append(root.Commands(), root) {
		assert.IsType(t, &output.Cleaner{}, cmd.OutOrStdout(), cmd.Name())
		assert.IsType(t, &output.Cleaner{}, cmd.ErrOrStderr(), cmd.Name())
	}
}
