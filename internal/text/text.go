package text

import (
	"encoding/json"
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
	return strings.ToValidUTF8(text[:max(limit-len(mark), 0)], "") + mark
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

// Few returns the first n texts of a list, and the number of the others.
func Few(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(list[:n:n], fmt.Sprintf("and %d more", len(list)-n))
}

// JSON returns a value as JSON in one line, without escapes for HTML. A value that JSON can't express is in Go's form.
func JSON(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
