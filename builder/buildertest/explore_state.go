package buildertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// exploredState is a state of an exploration: the server, and what its operators are about to do. Nothing changes it.
type exploredState struct {
	server *snapshot
	queues []queueState // by process

	idle  int // clock steps since the last change
	edits int // steps of Then that are done
	busy  int // passes in a row that changed something

	crashes, stale, early, lost int // that happened so far

	made map[string]int // creations by operators of an object, without those that others made necessary

	did done // by an operator, in the step that led here
}

// done is what a pass did, for people.
type done struct {
	writes []Call // without dry runs
	err    error
}

// lines returns the writes and the error, a line each.
func (d done) lines() []string {
	var lines []string
	for _, w := range d.writes {
		lines = append(lines, w.String())
	}
	if d.err != nil {
		lines = append(lines, fmt.Sprintf("error: %v", d.err))
	}
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\n", " ")
	}
	return lines
}

// queueState is the queue of a process, and what the process remembers.
type queueState struct {
	pending map[reconcile.Request]bool      // true: the last pass failed without a change, so only a change or time begins the next one
	quiet   map[reconcile.Request]bool      // pending, and counted as taken: see settleQuiet
	timers  map[reconcile.Request]time.Time // requested passes
	fired   map[reconcile.Request]bool      // timers, since the last change
	errs    map[reconcile.Request]error     // of the last pass of a request
	started uint64                          // the server's version at its start
	wrote   map[schema.GroupVersionKind]uint64
	seen    map[schema.GroupVersionKind]uint64 // the version of each kind in the last pass; nothing changes it
	passes  []pastPass                         // since its start, if the process keeps its memory
	memory  search.Hash                        // of what these passes read
}

// pastPass is a pass that a process has made, so that a new process can make it again.
type pastPass struct {
	server  *snapshot
	request reconcile.Request
	reads   reads
	wrote   map[schema.GroupVersionKind]uint64
	faults  []Fault
}

// clone returns a copy to change, to which nothing has led yet.
func (s *exploredState) clone() *exploredState {
	c := *s
	c.did = done{}
	c.made = maps.Clone(s.made)
	c.queues = slices.Clone(s.queues)
	for i, q := range c.queues {
		q.pending, q.timers, q.errs, q.wrote = maps.Clone(q.pending), maps.Clone(q.timers), maps.Clone(q.errs), maps.Clone(q.wrote)
		q.quiet, q.fired = maps.Clone(q.quiet), maps.Clone(q.fired)
		q.passes = slices.Clip(q.passes)
		c.queues[i] = q
	}
	return &c
}

// maxDigests limits the remembered digests, and with them the objects that are kept in memory.
const maxDigests = 1 << 16

// Hash identifies a state. It doesn't count what no operator can distinguish: resource versions, and when and in which order things
// happened, apart from the age of what objects say about time.
func (e *exploration) Hash(s *exploredState) search.Hash {
	if len(e.digests) >= maxDigests {
		clear(e.digests)
		e.server.reads.Clear()
	}
	sum := e.digests.all(s.server, reads{}.versionOf(s.server))
	text := fmt.Appendf(nil, "%x %v", sum, []int{s.idle, s.edits, s.crashes, s.stale, s.early, s.lost})
	for i, p := range e.processes {
		q := s.queues[i]
		for _, r := range p.Requests {
			held, queued := q.pending[r]
			timer, timed := q.timers[r]
			quiet := q.quiet[r] && s.stale < e.bounds.StaleReads
			if queued = queued && !q.quiet[r]; !queued && !quiet && !timed && q.errs[r] == nil {
				continue
			}
			text = fmt.Appendf(text, "|%d %s %t%t%t%t%t", i, r, queued, held, quiet, q.errs[r] != nil, q.fired[r])
			if timed {
				text = fmt.Appendf(text, " in %s", timer.Sub(s.server.now))
			}
		}
		text = fmt.Appendf(text, " memory %x", q.memory)
		if s.stale < e.bounds.StaleReads {
			for _, v := range e.staleReads(s, i) {
				text = fmt.Appendf(text, " stale %x", v.content)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.made)) {
		text = fmt.Appendf(text, "|%s %d", name, s.made[name])
	}
	return digest(text)
}
