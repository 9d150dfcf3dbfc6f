package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRelaySeparatesProgressFromTheVerdict(t *testing.T) {
	for name, tc := range map[string]struct{ in, out, verdict string }{
		"ready":    {"starting\n\nready in 3s\n\x00ready", "starting\n\nready in 3s\n", verdictReady},
		"failed":   {"starting\n\x00etcd: exit status 1:\n  its log\n", "starting\n", "etcd: exit status 1:\n  its log\n"},
		"died":     {"starting\n", "starting\n", ""},
		"cut line": {"star", "star", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			verdict, err := relay(strings.NewReader(tc.in), &out)
			require.NoError(t, err)
			assert.Equal(t, tc.out, out.String())
			assert.Equal(t, tc.verdict, verdict)
		})
	}
}

func TestLeadingDirIsOurs(t *testing.T) {
	for _, tc := range []struct {
		args []string
		dir  string
		rest []string
	}{
		{nil, "", nil},
		{[]string{"get", "--dir", "x"}, "", []string{"get", "--dir", "x"}},
		{[]string{"--dir", "d", "get"}, "d", []string{"get"}},
		{[]string{"--dir=d", "--", "get"}, "d", []string{"--", "get"}},
	} {
		dir, rest, err := leadingDir(tc.args)
		require.NoError(t, err)
		assert.Equal(t, tc.dir, dir)
		assert.Equal(t, tc.rest, rest)
	}
	for _, args := range [][]string{{"--dir"}, {"--dir=", "get"}} {
		_, _, err := leadingDir(args)
		assert.ErrorContains(t, err, "--dir", "%v", args)
	}
}
