package text

import (
	"fmt"
	"strings"
)

// MaxSummary is the maximum length of a summary, in bytes, for conditions.
const MaxSummary = 2048

// MaxMessage is the maximum length of a message about one child, in bytes.
const MaxMessage = 256

// Shorten cuts a text to at most limit bytes.
func Shorten(text string, limit int) string {
	const mark = "…"
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(mark)], "") + mark
}

// List returns the names of the first things after a prefix, and the number of the others.
func List[T any](prefix string, things []T, name func(T) string) string {
	const shown = 3
	var parts []string
	for _, t := range things[:min(shown, len(things))] {
		parts = append(parts, Shorten(name(t), MaxSummary/(shown+1)))
	}
	if more := len(things) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return prefix + strings.Join(parts, "; ")
}
