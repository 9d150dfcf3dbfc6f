package buildertest

import "errors"

// ErrCrashed is what a client's calls return once its process has crashed.
var ErrCrashed = errors.New("buildertest: the process has crashed")

type crash struct {
	after     int // writes; 0: never
	losing    bool
	panicking bool

	writes int
	dead   bool
}

// CrashOption changes how a client crashes.
type CrashOption func(*crash)

// LosingReply lets the last write be done without the client learning of it.
func LosingReply() CrashOption { return func(c *crash) { c.losing = true } }

// Panicking lets calls of a crashed client panic with ErrCrashed. Default: they return it, since the panic of a
// goroutine that is not the test's would end the test binary.
func Panicking() CrashOption { return func(c *crash) { c.panicking = true } }

// CrashAfter lets the process that the client stands for die once its k-th write, counted from now, is done. Every
// later call, reads too, fails with ErrCrashed and does nothing. Writes that fail and dry runs don't count. A k below 1
// crashes it at once.
func (c *Client) CrashAfter(k int, options ...CrashOption) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.crash = crash{after: k, dead: k < 1}
	for _, option := range options {
		option(&c.crash)
	}
}

// Crashed reports whether the client's process is dead.
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

// die fails a call of a dead client. It is not recorded: it was never made.
func (c *Client) die() error {
	if c.crash.panicking {
		panic(ErrCrashed)
	}
	return ErrCrashed
}
