package buildertest

// OutsideNamespace is the namespace of objects that stand for things outside of the cluster, such as those of a simulated database: see
// package effectstest. They are objects so that [CrashEverywhere] crashes the process after each change, and [Explore] returns to each
// state. A role doesn't apply to them.
const OutsideNamespace = "outside-the-cluster"

// Outside makes a change in a real system outside of the cluster, such as an SQL statement on a database server: see [Scenario].Outside.
// what names the change in messages. It counts as a write of the process, unless it fails: [Client.CrashAfter] and [CrashEverywhere] crash
// the process after it. A crashed process makes no change, and gets ErrCrashed.
func (c *Client) Outside(what string, change func() error) error {
	if c.Crashed() {
		return c.die()
	}
	if err := change(); err != nil {
		return err
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.crash.count()
	if c.written != nil {
		c.written(Call{Client: c.name, Verb: verbOutside, Name: what})
	}
	return nil
}

// verbOutside is the verb of a change in a system outside of the cluster. A ledger has none of them.
const verbOutside Verb = "outside"
