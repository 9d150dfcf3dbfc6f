package jobflow

import (
	"unicode/utf8"

	"github.com/armature-dev/armature/operators/internal/message"
)

// room is how much a status may take up, so that all of it stays below 100 KiB: the more nodes there are, the more the
// ledger takes, and the less is left for the rest. Sizes are in bytes of JSON.
//
// At 10,000 nodes the ledger takes up to 76 KB: intervals of 4.9 bytes an index if each stands alone, and marks of 4.
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
	return shorten(message.List(things, describe), maxMessage)
}

// shorten cuts a text to a size in JSON, at a character's border.
func shorten(text string, size int) string {
	if len(text) <= size/6 { // a byte takes six at most
		return text
	}
	const mark = "…"
	taken, end := 0, 0
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		taken += runeSize(r, width)
		if taken > size {
			return text[:end] + mark
		}
		if taken <= size-len(mark) {
			end = i
		}
	}
	return text
}

// jsonSize is how many bytes a text takes as JSON.
func jsonSize(text string) int {
	size := 0
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		size += runeSize(r, width)
	}
	return size
}

// runeSize is how many bytes a character takes as encoding/json writes it. A byte that is no character is one of width 1,
// and written as \ufffd; U+FFFD itself is written as it is.
func runeSize(r rune, width int) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' || (r == utf8.RuneError && width == 1):
		return 6
	default:
		return width
	}
}
