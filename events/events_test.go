package events

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type heard struct {
	regarding, related runtime.Object
	text               string
}

func (h *heard) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	h.regarding, h.related = regarding, related
	h.text = strings.Join([]string{eventtype, reason, action, fmt.Sprintf(note, args...)}, "|")
}

func TestEmit(t *testing.T) {
	owner, child := &corev1.ConfigMap{}, &corev1.Pod{}
	cases := map[string]struct {
		event   Event
		related runtime.Object
		text    string
	}{
		"defaults":         {Event{Reason: "R", Note: "n"}, nil, "Normal|R|Reconcile|n"},
		"normal":           {Normal("R", "n"), nil, "Normal|R|Reconcile|n"},
		"warning, related": {Warning("R", "n").About(child), child, "Warning|R|Reconcile|n"},
		"action":           {Event{Reason: "R", Action: ActionPrune, Note: "n"}, nil, "Normal|R|Prune|n"},
		"no format":        {Normal("R", "100%d"), nil, "Normal|R|Reconcile|100%d"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := &heard{}
			Emit(h, owner, c.event)
			assert.Same(t, owner, h.regarding)
			assert.Equal(t, c.related, h.related)
			assert.Equal(t, c.text, h.text)
		})
	}
	assert.NotPanics(t, func() { Emit(nil, owner, Normal("R", "n")) })
}

func TestNotesAreBounded(t *testing.T) {
	for _, note := range []string{"", "short", strings.Repeat("x", maxNote), strings.Repeat("x", 5000), "x" + strings.Repeat("é", 5000)} {
		got := shorten(note)
		assert.LessOrEqual(t, len(got), maxNote)
		assert.True(t, utf8.ValidString(got))
		if len(note) <= maxNote {
			assert.Equal(t, note, got)
		} else {
			assert.True(t, strings.HasSuffix(got, "…"))
			assert.Greater(t, len(got), maxNote-8)
		}
	}
}
