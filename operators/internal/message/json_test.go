package message

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestCutJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringN(0, 100, 400), piecesBadForJSON()).Draw(t, "text")
		size := rapid.IntRange(10, 120).Draw(t, "size")
		short := CutJSON(text, size)
		encoded, err := json.Marshal(short)
		assert.NoError(t, err)
		assert.LessOrEqual(t, len(encoded)-len(`""`), size)
		assert.Equal(t, len(encoded)-len(`""`), JSONSize(short))
		if encoded, _ := json.Marshal(text); len(encoded)-len(`""`) <= size {
			assert.Equal(t, text, short)
		}
	})
}

func TestCutJSONCutsBehindAnInvalidByte(t *testing.T) {
	assert.Equal(t, "\xff…", CutJSON("\xff<", 10))
}

func TestCutJSONLeavesWhatFits(t *testing.T) {
	for _, text := range []string{"\x7f?@\uFFFD", "\b\f\b\f\b\f", "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f"} {
		assert.Equal(t, text, CutJSON(text, 12))
	}
}

// piecesBadForJSON draws texts of characters that take more bytes as JSON than in memory, or seem to, and of invalid bytes.
func piecesBadForJSON() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "é", "…", "🙂", "<", "\"", "\n", "\b", "\f", "\v", "\x7f", "\u2028", "\uFFFD", "\xff", "\xe2\x80"})
	return rapid.Map(rapid.SliceOfN(piece, 0, 60), func(pieces []string) string { return strings.Join(pieces, "") })
}
