package buildertest

import "errors"

// ErrCrashed is the error of a client's calls after its process has crashed.
var ErrCrashed = errors.New("buildertest: the process has crashed")

type crash struct {
	after     int // writes; 0: never
	losing    bool
	panicking bool

	writes int
	dead   bool
}

// CrashOption configures a crash of a client.
type CrashOption func(*crash)

// LosingReply makes the last write succeed without a reply to the client.
func LosingReply() CrashOption { return func(c *crash) { c.losing = true } }

// Panicking makes the calls of a crashed client panic with ErrCrashed. Default: they return it, because a panic in a goroutine other
// than the test's would end the test binary.
func Panicking() CrashOption { return func(c *crash) { c.panicking = true } }

// CrashAfter crashes the client's process after its k-th write, counted from now. Every later call, including reads, fails with
// ErrCrashed and has no effect. Failed writes and dry runs don't count. A k below 1 crashes the process at once.
func (c *Client) CrashAfter(k int, options ...CrashOption) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.crash = crash{after: k, dead: k < 1}
	for _, option := range options {
		option(&c.crash)
	}
}

// Crashed reports whether the client's process has crashed.
func (c *Client) Crashed() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.crash.dead
}

// count counts a write, and reports whether it was the last.
func (c *crash) count() bool {
	c.writes++
	c.dead = c.after > 0 && c.writes >= c.after
	return c.dead
}

// die fails a call of a crashed client. It doesn't record the call, because a crashed process makes none.
func (c *Client) die() error {
	if c.crash.panicking {
		panic(ErrCrashed)
	}
	return ErrCrashed
}
