package managercmd

import (
	"context"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// around puts the fence around the client of a configuration, which is to be all but the one of the lease.
//
//   - Writes are refused.
//   - What had been let through when the process was frozen gets stuck at the connection when it wakes.
//   - What the connection has taken arrives before the lease has run out, or not at all. Otherwise the kernel would go on
//     trying for a quarter of an hour if the network is interrupted, and even when the process has ended.
func (f *fence) around(cfg *rest.Config) {
	cfg.Wrap(f.guard)
	// Less than a second would be too little for a packet that is lost once.
	arrival := max(f.lease.duration-f.lease.renewDeadline, time.Second)
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: giveUpAfter(arrival)} // the times are client-go's
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return fencedConn{conn, f}, nil
	}
}

// guard refuses writes.
func (f *fence) guard(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet && f.closed() {
			return nil, errFenced
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// fencedConn sends nothing while its fence is closed. A connection that was stopped like that is not used again.
type fencedConn struct {
	net.Conn
	fence *fence
}

func (c fencedConn) Write(b []byte) (int, error) {
	if c.fence.closed() {
		return 0, errFenced
	}
	return c.Conn.Write(b)
}
