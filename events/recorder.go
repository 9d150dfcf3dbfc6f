package events

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxNote is the longest note that the API server accepts (events.k8s.io/v1 validation).
const maxNote = 1024

// Recorder is the part of client-go's events recorder that is used; manager.GetEventRecorder returns one.
type Recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// Emit writes e about the owner. A nil recorder drops it.
func Emit(r Recorder, owner runtime.Object, e Event) {
	if r == nil {
		return
	}
	r.Eventf(owner, e.Related,
		cmp.Or(e.Type, corev1.EventTypeNormal), e.Reason, cmp.Or(e.Action, ActionReconcile), "%s", shorten(e.Note))
}

// shorten cuts a note at the API server's limit, at a character's border, and shows that it was cut.
func shorten(note string) string {
	if len(note) <= maxNote {
		return note
	}
	const mark = "…"
	end := maxNote - len(mark)
	for end > 0 && note[end]&0xC0 == 0x80 { // inside a multi-byte character
		end--
	}
	return note[:end] + mark
}
