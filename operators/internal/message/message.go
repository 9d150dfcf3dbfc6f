package message

import (
	"fmt"
	"strings"

	"github.com/armature-dev/armature/internal/text"
)

const (
	// MaxListed is how many entries of a list a message has.
	MaxListed = 10
	// MaxLength bounds a message in a status, in bytes.
	MaxLength = 2048
)

// List joins the first few sentences by semicolons, and counts the rest.
func List[T any](things []T, describe func(T) string) string { return join(things, describe, "; ") }

// Names joins the first few names by commas, and counts the rest.
func Names[T any](things []T, describe func(T) string) string { return join(things, describe, ", ") }

func join[T any](things []T, describe func(T) string, separator string) string {
	var b strings.Builder
	for n, thing := range things {
		if n > 0 {
			b.WriteString(separator)
		}
		if n == MaxListed {
			fmt.Fprintf(&b, "and %d more", len(things)-n)
			break
		}
		b.WriteString(describe(thing))
	}
	return Shorten(b.String())
}

// Shorten cuts a message that is longer than MaxLength, at a character's border, and shows that it was cut.
func Shorten(message string) string { return text.Shorten(message, MaxLength) }

// Count renders a number of things: 1 node, 2 nodes.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
