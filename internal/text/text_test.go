package text

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcdefg", 6, "abc…"}, {"short", 5, "short"}, {"longer", 5, "lo…"}, {"aéé", 4, "a…"}, {"häßlich", 6, "hä…"},
		{"ßßß", 4, "…"}, {"ßßß", 5, "ß…"}, {"text", 3, "…"}, {"", 0, ""},
	} {
		assert.Equal(t, tt.want, Shorten(tt.text, tt.limit), "%s, %d", tt.text, tt.limit)
	}
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
