package record

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// State is the state of a node, or of an item of one.
type State uint8

// The states of a node. Only those from Succeeded on are recorded.
const (
	Pending State = iota
	Running
	Succeeded
	Failed
	Skipped
)

// HasEnded reports whether the node has run or is skipped.
func (s State) HasEnded() bool { return s >= Succeeded }

// HasRun reports whether the node was started and has ended.
func (s State) HasRun() bool { return s == Succeeded || s == Failed }

// NodeDigest identifies a node that has run, so that an edited spec doesn't make it another one.
type NodeDigest struct {
	Name uint32 // HashName of its name
	Spec uint32 // HashDigest of the fields that it was started with; 0 if they are unknown
}

const (
	// fullWidth is the number of bytes of a stored NodeDigest: four of the name, four of the spec.
	fullWidth = 8
	// shortWidth is the number of bytes in flows of more than maxFullWidth nodes, whose status has room only for three of the name.
	shortWidth = 3
	// maxFullWidth is the number of nodes up to which a flow stores full digests.
	maxFullWidth = 4000
)

// Record has the state of each node of a flow.
type Record struct {
	// States of the nodes, by index. Behind them are the states of removed nodes, which have run and aren't in the spec any more.
	States []State
	// Digests of the nodes that have run, by the same index.
	Digests []NodeDigest
	// width is the number of bytes of a stored digest.
	width int
}

// Read returns what a status records, by the indexes of the nodes whose names have these hashes. isSameSpec: the status was written for
// the same generation of the spec.
func Read(status *v1alpha1.JobFlowStatus, names []uint32, isSameSpec bool) Record {
	r := stored(status, len(names))
	switch {
	case r.width < shortWidth && len(status.Finished) > len(status.Skipped): // another operator wrote it: only the index identifies a node
		for i := range names {
			r.Digests[i].Name = names[i]
		}
		return r
	case isSameSpec && r.fits(names):
		return r
	default:
		return r.remap(names)
	}
}

// Clone returns a copy that shares no memory.
func (r *Record) Clone() Record {
	return Record{States: slices.Clone(r.States), Digests: slices.Clone(r.Digests), width: r.width}
}

// stored returns what a status records, by the indexes of the spec that it was written for.
func stored(status *v1alpha1.JobFlowStatus, size int) Record {
	const most = 1 << 16 // more than any flow has: a status must not determine how much memory is allocated
	r := Record{States: make([]State, size)}
	put := func(indexes v1alpha1.Indexes, s State) {
		for i := range indexes.Below(most) {
			for i >= len(r.States) {
				r.States = append(r.States, Pending)
			}
			r.States[i] = s
		}
	}
	put(status.Finished, Succeeded)
	put(status.Failed, Failed)
	put(status.Skipped, Skipped)
	r.Digests = make([]NodeDigest, len(r.States))
	ran := 0
	for _, s := range r.States {
		if s.HasRun() {
			ran++
		}
	}
	if ran == 0 {
		return r
	}
	digests, err := base64.StdEncoding.DecodeString(status.NodeDigests)
	if err != nil {
		return r
	}
	r.width = len(digests) / ran
	if r.width < shortWidth {
		return r
	}
	at := 0
	for i, s := range r.States {
		if s.HasRun() {
			r.Digests[i] = readDigest(digests[at : at+r.width])
			at += r.width
		}
	}
	return r
}

func readDigest(b []byte) NodeDigest {
	if len(b) < fullWidth {
		return NodeDigest{Name: uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8}
	}
	return NodeDigest{Name: binary.BigEndian.Uint32(b), Spec: binary.BigEndian.Uint32(b[4:])}
}

// SameName compares the hashes of two names, as far as they are stored.
func (r *Record) SameName(a, b uint32) bool {
	return r.storedName(a) == r.storedName(b)
}

// storedName returns the part of a name's hash that is stored.
func (r *Record) storedName(name uint32) uint32 {
	if r.width < fullWidth {
		return name >> 8
	}
	return name
}

// fits reports whether the indexes are those of nodes whose names have these hashes.
func (r *Record) fits(names []uint32) bool {
	for i, s := range r.States {
		if s.HasRun() && i < len(names) && !r.SameName(r.Digests[i].Name, names[i]) {
			return false
		}
	}
	return true
}

// remap returns the same record by the indexes of another spec. It finds nodes that have run by their digests, and appends those that
// were removed from the spec. A node whose place is unchanged stays there: in a large flow two nodes may have the same digest. Skipped
// nodes haven't run: they are decided again.
func (r *Record) remap(names []uint32) Record {
	to := Record{States: make([]State, len(names)), Digests: make([]NodeDigest, len(names)), width: r.width}
	places := make(map[uint32][]int32, len(names))
	for i, name := range names {
		places[r.storedName(name)] = append(places[r.storedName(name)], int32(i))
	}
	isInPlace := func(i int) bool { return i < len(names) && r.SameName(r.Digests[i].Name, names[i]) }
	for i, s := range r.States {
		if s.HasRun() && isInPlace(i) {
			to.States[i], to.Digests[i] = s, r.Digests[i]
		}
	}
	for i, s := range r.States {
		if !s.HasRun() || isInPlace(i) {
			continue
		}
		place := -1
		for _, j := range places[r.storedName(r.Digests[i].Name)] {
			if to.States[j] == Pending {
				place = int(j)
				break
			}
		}
		if place < 0 {
			to.States = append(to.States, s)
			to.Digests = append(to.Digests, r.Digests[i])
			continue
		}
		to.States[place], to.Digests[place] = s, r.Digests[i]
	}
	return to
}

// DropRemoved drops those removed nodes whose names have these hashes. size is the number of nodes in the spec.
func (r *Record) DropRemoved(size int, names []uint32) {
	drop := make(map[uint32]bool, len(names))
	for _, name := range names {
		drop[r.storedName(name)] = true
	}
	kept := size
	for i := size; i < len(r.States); i++ {
		if !drop[r.storedName(r.Digests[i].Name)] {
			r.States[kept], r.Digests[kept] = r.States[i], r.Digests[i]
			kept++
		}
	}
	r.States, r.Digests = r.States[:kept], r.Digests[:kept]
}

// Write puts the record into a status.
func (r *Record) Write(status *v1alpha1.JobFlowStatus) {
	n := len(r.States)
	status.Finished = v1alpha1.IndexesOf(n, func(i int) bool { return r.States[i].HasEnded() })
	status.Failed = v1alpha1.IndexesOf(n, func(i int) bool { return r.States[i] == Failed })
	status.Skipped = v1alpha1.IndexesOf(n, func(i int) bool { return r.States[i] == Skipped })

	width := fullWidth
	if n > maxFullWidth || (r.width > 0 && r.width < fullWidth) {
		width = shortWidth
	}
	var digests []byte
	for i, s := range r.States {
		if !s.HasRun() {
			continue
		}
		var b [fullWidth]byte
		binary.BigEndian.PutUint32(b[:], r.Digests[i].Name)
		binary.BigEndian.PutUint32(b[4:], r.Digests[i].Spec)
		digests = append(digests, b[:width]...)
	}
	status.NodeDigests = base64.StdEncoding.EncodeToString(digests)
}
