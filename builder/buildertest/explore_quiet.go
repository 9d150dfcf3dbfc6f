package buildertest

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// quietPass is what a pass on a state does.
type quietPass struct {
	quiet  bool // it succeeds, and writes nothing
	result reconcile.Result
}

// settleQuiet takes the queued passes that would succeed and write nothing. Such a pass leads to the same state now and later, so its
// place in the order doesn't matter. Only a pass that reads an older state may still begin in its stead.
func (e *exploration) settleQuiet(s *exploredState) error {
	if e.bounds.KeepMemory {
		return nil
	}
	for i, p := range e.processes {
		q := &s.queues[i]
		for _, r := range p.Requests {
			if !q.isPending(r) || q.quiet[r] {
				continue
			}
			done, err := e.quietPass(s, i, r)
			if err != nil {
				return err
			}
			if !done.quiet {
				continue
			}
			q.quiet[r] = true
			delete(q.errs, r)
			q.remember(r, s.server.now, requeueAfter(done.result, s.idle))
		}
	}
	return nil
}

// quietPass returns what a pass of a new process would do. It depends on the content of the state alone.
func (e *exploration) quietPass(s *exploredState, process int, r reconcile.Request) (quietPass, error) {
	content := e.digests.all(s.server, reads{}.versionOf(s.server))
	key := digest(fmt.Appendf(nil, "%x %d %s", content, process, r))
	if known, ok := e.quiet[key]; ok {
		return known, nil
	}
	done, err := e.run(s, process, r, reads{})
	if err != nil {
		return quietPass{}, err
	}
	p := quietPass{quiet: done.err == nil && len(done.writes) == 0, result: done.result}
	e.quiet[key] = p
	return p, nil
}

// remember sets the timer of a request if a pass asked for it, unless an earlier one is set.
func (q *queueState) remember(r reconcile.Request, now time.Time, after time.Duration) {
	if after <= 0 {
		return
	}
	at := now.Add(after)
	if due, ok := q.timers[r]; !ok || at.Before(due) {
		q.timers[r] = at
	}
}
