package jobflow

import (
	"github.com/armature-dev/armature/operators/internal/message"
)

// room is how much a status may take up, so that all of it stays below 100 KiB: the more nodes there are, the more the
// record takes, and the less is left for the rest. Sizes are in bytes of JSON.
//
// At 10,000 nodes the record takes up to 76 KB: intervals of 4.9 bytes an index if each stands alone, and digests of 4.
type room struct {
	all      int // flows of up to so many nodes show each of them
	running  int // larger ones show so many that are running,
	failed   int // and so many that have failed
	outputs  int // all outputs together
	items    int // all items under way together
	oldItems int // items of nodes that have failed

	failedNames int // names of nodes that have failed, as finally is told
}

func roomFor(nodes int) room {
	r := room{all: 100, running: 10, failed: 5, outputs: 24 << 10, items: 12 << 10, oldItems: 2 << 10, failedNames: 100}
	if nodes > 1000 {
		r.outputs, r.items, r.oldItems, r.failedNames = 4<<10, 5<<10, 1<<10, 10
	}
	return r
}

const (
	// maxMessage bounds the messages of conditions and events.
	maxMessage = 1024
	// maxNodeMessage bounds the messages of single nodes.
	maxNodeMessage = 256
	// maxCurrent bounds the list of what is running.
	maxCurrent = 120
)

// enumerate joins the first few things and counts the rest, within the bounds of a message.
func enumerate[T any](things []T, describe func(T) string) string {
	return message.CutJSON(message.List(things, describe), maxMessage)
}
