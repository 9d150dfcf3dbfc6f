package binary

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Address returns the address at which a manager in the process serves something. A manager that is told to listen at port 0 gets a free
// port from the kernel, and logs it: a port that a test picks beforehand may be taken by another process before the manager listens.
func (p *Process) Address(t *testing.T, server string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^.*starting server.*name\W+` + regexp.QuoteMeta(server) + `\W.*addr\W+?([\d.]+:\d+)`)
	var found []string
	require.Eventually(t, func() bool {
		found = line.FindStringSubmatch(p.Log.String())
		return found != nil
	}, time.Minute, 100*time.Millisecond, "the log has no address of %q", server)
	return found[1]
}
