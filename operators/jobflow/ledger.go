package jobflow

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// state is where a node is.
type state uint8

const (
	pending state = iota
	running
	succeeded
	failed
	skipped
)

// hasEnded reports whether the node is decided for good.
func (s state) hasEnded() bool { return s >= succeeded }

// hasRun reports whether the node was started and has ended.
func (s state) hasRun() bool { return s == succeeded || s == failed }

// mark recognizes a node that has run, when the spec has been changed.
type mark struct {
	name uint32 // the hash of its name
	spec uint32 // the hash of what it was started as; 0 is unknown
}

const (
	// fullMark is how many bytes a mark takes: four of the name, four of the spec.
	fullMark = 8
	// shortMark is what it takes in flows so large that there is room for no more: three of the name.
	shortMark = 3
	// maxFullMarks is how many nodes a flow may have for full marks.
	maxFullMarks = 4000
)

// ledger is what is on record of a flow's nodes: which have ended, and how. It is what keeps a node from running twice,
// so it must outlast Jobs, restarts, and changes of the spec.
type ledger struct {
	// states of the nodes, by index; behind them those of departed nodes.
	states []state
	// marks of the nodes that have run.
	marks []mark
	// width of the marks as they are stored.
	width int
}

// readLedger returns what a status has on record, by the indexes of the spec as it is now.
func readLedger(status *v1alpha1.JobFlowStatus, c *compiled, sameSpec bool) ledger {
	stored := storedLedger(status, c.size())
	switch {
	case stored.width < shortMark && len(status.Finished) > len(status.Skipped): // not by us: there is only the index to go by
		for i := range c.hashes {
			stored.marks[i].name = c.hashes[i]
		}
		return stored
	case sameSpec && stored.fits(c):
		return stored
	default:
		return stored.remap(c)
	}
}

// storedLedger returns what a status has on record, by the indexes of the spec as it was then.
func storedLedger(status *v1alpha1.JobFlowStatus, size int) ledger {
	const most = 1 << 16 // more than any flow; a status is not to be trusted with the size of memory
	l := ledger{states: make([]state, size)}
	put := func(indexes v1alpha1.Indexes, s state) {
		for i := range indexes.Below(most) {
			for i >= len(l.states) {
				l.states = append(l.states, pending)
			}
			l.states[i] = s
		}
	}
	put(status.Finished, succeeded)
	put(status.Failed, failed)
	put(status.Skipped, skipped)
	l.marks = make([]mark, len(l.states))
	ran := 0
	for _, s := range l.states {
		if s.hasRun() {
			ran++
		}
	}
	if ran == 0 {
		return l
	}
	marks, err := base64.StdEncoding.DecodeString(status.NodeDigests)
	if err != nil {
		return l
	}
	l.width = len(marks) / ran
	if l.width < shortMark {
		return l
	}
	at := 0
	for i, s := range l.states {
		if s.hasRun() {
			l.marks[i] = readMark(marks[at : at+l.width])
			at += l.width
		}
	}
	return l
}

func readMark(b []byte) mark {
	if len(b) < fullMark {
		return mark{name: uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8}
	}
	return mark{name: binary.BigEndian.Uint32(b), spec: binary.BigEndian.Uint32(b[4:])}
}

// sameName compares as much of names' hashes as is stored.
func (l *ledger) sameName(a, b uint32) bool {
	if l.width < fullMark {
		return a>>8 == b>>8
	}
	return a == b
}

// fits reports whether the indexes are those of this spec.
func (l *ledger) fits(c *compiled) bool {
	for i, s := range l.states {
		if s.hasRun() && i < c.size() && !l.sameName(l.marks[i].name, c.hashes[i]) {
			return false
		}
	}
	return true
}

// remap returns the same by the indexes of another spec. Nodes that have run are found by their marks; those that are no
// more in the spec are departed. What was skipped hasn't run and is decided anew.
func (l *ledger) remap(c *compiled) ledger {
	to := ledger{states: make([]state, c.size()), marks: make([]mark, c.size()), width: l.width}
	key := func(name uint32) uint32 {
		if l.width < fullMark {
			return name >> 8
		}
		return name
	}
	places := make(map[uint32][]int32, c.size())
	for i, hash := range c.hashes {
		places[key(hash)] = append(places[key(hash)], int32(i))
	}
	for i, s := range l.states {
		if !s.hasRun() {
			continue
		}
		place := -1
		for _, j := range places[key(l.marks[i].name)] {
			if to.states[j] == pending {
				place = int(j)
				break
			}
		}
		if place < 0 {
			to.states = append(to.states, s)
			to.marks = append(to.marks, l.marks[i])
			continue
		}
		to.states[place], to.marks[place] = s, l.marks[i]
	}
	return to
}

// write puts the ledger into a status.
func (l *ledger) write(status *v1alpha1.JobFlowStatus) {
	n := len(l.states)
	status.Finished = v1alpha1.IndexesOf(n, func(i int) bool { return l.states[i].hasEnded() })
	status.Failed = v1alpha1.IndexesOf(n, func(i int) bool { return l.states[i] == failed })
	status.Skipped = v1alpha1.IndexesOf(n, func(i int) bool { return l.states[i] == skipped })

	width := fullMark
	if n > maxFullMarks || (l.width > 0 && l.width < fullMark) {
		width = shortMark
	}
	var marks []byte
	for i, s := range l.states {
		if !s.hasRun() {
			continue
		}
		var b [fullMark]byte
		binary.BigEndian.PutUint32(b[:], l.marks[i].name)
		binary.BigEndian.PutUint32(b[4:], l.marks[i].spec)
		marks = append(marks, b[:width]...)
	}
	status.NodeDigests = base64.StdEncoding.EncodeToString(marks)
}
