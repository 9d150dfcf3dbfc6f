package explaincmd

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
)

// A script reads the exit code 1 as a problem of the object.
func TestAWrongCommandLineIsNoFinding(t *testing.T) {
	for _, args := range [][]string{
		{}, {"jf", "a", "b", "c"}, {"jf/a", "b", "c"}, {"jf/a", "--no-such-flag"}, {"jf/a", "--request-timeout"}, {"jf/a", "-o", "xml"},
	} {
		cmd := New()
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		cmd.SetArgs(args)
		err := cmd.Execute()
		require.Error(t, err, "%q", args)
		code, silent := exitcode.Of(err)
		assert.Equal(t, exitcode.Trouble, code, "%q: %v", args, err)
		assert.False(t, silent, "%q", args)
	}
}
