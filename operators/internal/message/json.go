package message

import "unicode/utf8"

// CutJSON cuts a text to a size in bytes of JSON, at a character's border, and shows that it was cut. A status of bounded size needs
// this instead of text.Shorten, because JSON takes up to six bytes for one of the text.
func CutJSON(text string, size int) string {
	const mark = "…"
	if len(text) <= size/6 {
		return text
	}
	taken, end := 0, 0
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		taken += runeSize(r, width)
		if taken > size {
			return text[:end] + mark
		}
		if taken <= size-len(mark) {
			end = i
		}
	}
	return text
}

// JSONSize returns the number of bytes that encoding/json takes for a text, without the quotes around it.
func JSONSize(text string) int {
	size := 0
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		size += runeSize(r, width)
	}
	return size
}

// runeSize returns the number of bytes that encoding/json takes for a character. It writes an invalid byte, which is decoded as a
// RuneError of width 1, as \ufffd, and U+FFFD itself as it is.
func runeSize(r rune, width int) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' || (r == utf8.RuneError && width == 1):
		return 6
	default:
		return width
	}
}
