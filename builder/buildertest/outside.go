package buildertest

import "k8s.io/apimachinery/pkg/runtime/schema"

// VerbOutside is the verb of calls to something outside of the cluster.
const VerbOutside Verb = "call"

// Outside makes a call to something outside of the cluster, such as a simulated database: see package effectstest. It counts as a write,
// so that [CrashEverywhere] crashes the process after it, once with the reply and once without. A crashed process makes no call. what
// names the call in the record.
func (c *Client) Outside(what string, do func() error) error {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.crash.dead {
		return c.die()
	}
	r := &request{Call: Call{Client: c.name, Verb: VerbOutside, Kind: schema.GroupKind{Kind: "Outside"}, Name: what}}
	err := do()
	lost := err == nil && c.crash.count() && c.crash.losing
	if lost {
		err = ErrCrashed
	}
	c.record(r, nil, err)
	if lost {
		return c.die()
	}
	return err
}
