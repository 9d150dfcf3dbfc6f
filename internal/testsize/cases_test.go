package testsize

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestCases(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	given := checks.Value.String()
	t.Cleanup(func() { assert.NoError(t, checks.Value.Set(given)) })
	ran := func(t *testing.T) (n int) {
		Cases(t, 3)
		rapid.Check(t, func(*rapid.T) { n++ })
		return n
	}
	for name, c := range map[string]struct {
		long, checks string
		want         int
	}{
		"small size":   {checks: checks.DefValue, want: 3},
		"full size":    {long: "1", checks: checks.DefValue, want: 100},
		"command line": {checks: "7", want: 7},
	} {
		t.Setenv(Env, c.long)
		assert.NoError(t, checks.Value.Set(c.checks))
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, ran(t)) })
		assert.Equal(t, c.checks, checks.Value.String(), "%s: it is put back", name)
	}
}
