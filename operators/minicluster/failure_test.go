package minicluster

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// The API server refuses a status with half a character.
func TestBecauseCutsAtACharacter(t *testing.T) {
	for n := range 4 {
		text := because(strings.Repeat("a", n) + strings.Repeat("€", 400))
		assert.True(t, utf8.ValidString(text), "%d", n)
		assert.LessOrEqual(t, len(text), len(": ")+512)
		assert.True(t, strings.HasSuffix(text, "…"))
	}
	assert.Equal(t, ": one; two", because(" one\ntwo\n"))
}
