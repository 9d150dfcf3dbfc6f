package message

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestList(t *testing.T) {
	quote := func(s string) string { return "<" + s + ">" }
	assert.Empty(t, List(nil, quote))
	assert.Equal(t, "<a>; <b>", List([]string{"a", "b"}, quote))
	many := List(strings.Split(strings.Repeat("x", 25), ""), quote)
	assert.Equal(t, strings.Repeat("<x>; ", 10)+"and 15 more", many)
}

func TestShorten(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("x", MaxLength), strings.Repeat("x", 5000), "x" + strings.Repeat("é", 5000)} {
		got := Shorten(text)
		assert.LessOrEqual(t, len(got), MaxLength)
		assert.True(t, utf8.ValidString(got))
		if len(text) <= MaxLength {
			assert.Equal(t, text, got)
		} else {
			assert.True(t, strings.HasSuffix(got, "…"))
			assert.Greater(t, len(got), MaxLength-8)
		}
	}
}

func TestCount(t *testing.T) {
	assert.Equal(t, "0 nodes", Count(0, "node"))
	assert.Equal(t, "1 node", Count(1, "node"))
	assert.Equal(t, "2 nodes", Count(2, "node"))
}
