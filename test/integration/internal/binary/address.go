package binary

import (
	"fmt"
	"math/rand/v2"
	"net"
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

// The ports of FreeAddress are below those of devcluster and those that the kernel gives to processes that ask for any port, so that only
// another call of FreeAddress could take one.
const (
	firstPort = 10000
	lastPort  = 20000
)

// FreeAddress returns an address of this host at which nothing listens, for a server that needs to know its port before it starts.
func FreeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		if l, err := net.Listen("tcp", address); err == nil {
			require.NoError(t, l.Close())
			return address
		}
	}
	t.Fatalf("no free port between %d and %d", firstPort, lastPort)
	return ""
}
