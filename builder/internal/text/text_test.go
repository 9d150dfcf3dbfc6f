package text

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShorten(t *testing.T) {
	assert.Equal(t, "abc", Shorten("abc", 3))
	assert.Equal(t, "abc…", Shorten("abcdefg", 6))
	assert.Equal(t, "a…", Shorten("aéé", 4), "a character isn't cut in two")
}

func TestList(t *testing.T) {
	same := func(s string) string { return s }
	assert.Equal(t, "waits for a; b", List("waits for ", []string{"a", "b"}, same))
	assert.Equal(t, "a; b; c; and 2 more", List("", []string{"a", "b", "c", "d", "e"}, same))
	assert.Len(t, List("", []string{strings.Repeat("x", 4000)}, same), MaxSummary/4)
}

func TestFew(t *testing.T) {
	names := []string{"a", "b", "c"}
	assert.Equal(t, names, Few(names, 3))
	assert.Equal(t, []string{"a", "and 2 more"}, Few(names, 1))
	assert.Equal(t, []string{"a", "b", "c"}, names, "the list stays as it is")
}

func TestJSON(t *testing.T) {
	assert.Contains(t, JSON(map[string]any{"a": "<b>"}), `"<b>"`)
	assert.Equal(t, "NaN", JSON(math.NaN()))
}
