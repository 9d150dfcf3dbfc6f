package dsoi

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// property is a line, or several that a backslash at the end puts together, as it was written. Its key is without escapes.
type property struct{ key, text string }

// parseProperties reads lines key=value or key: value. Empty lines and comments (# or !) are left out.
func parseProperties(text string) ([]property, error) {
	var all []property
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		last := trimEnd(strings.TrimLeft(lines[i], spaces))
		if last == "" || last[0] == '#' || last[0] == '!' {
			continue
		}
		first := i
		var parts []string
		for isContinued(last) && i+1 < len(lines) {
			i++
			parts, last = append(parts, last), trimEnd(lines[i])
		}
		if isContinued(last) { // by nothing: it must not go on with the first line of what is put behind it
			last = trimEnd(strings.TrimSuffix(last, `\`))
		}
		line := strings.Join(append(parts, last), "\n")
		raw, ok := keyOf(line)
		if !ok {
			return nil, fmt.Errorf("line %d is %q; want key=value", first+1, line)
		}
		key := unescape(raw)
		if key == "" {
			return nil, fmt.Errorf("line %d is %q, which has no key; want key=value", first+1, line)
		}
		all = append(all, property{key, line})
	}
	return all, nil
}

// keyOf returns the key of a line as java.util.Properties reads it: up to the first '=', ':' or white space that no backslash escapes. It
// reports whether a '=' or ':' that is no part of the key is in the line: Java also reads a line without, which is here more likely a
// mistake.
func keyOf(line string) (key string, ok bool) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			switch i++; {
			case i == len(line):
			case line[i] == '\n': // the key goes on in the next line, after its white space
				i = nextLine(line, i) - 1
			case end < i && (line[i] == '=' || line[i] == ':'): // in the value: white space has ended the key
				return line[:end], true
			}
		case '=', ':':
			return line[:min(end, i)], true
		case ' ', '\t', '\f':
			end = min(end, i)
		}
	}
	return "", false
}

// nextLine returns where a line goes on that is continued at i.
func nextLine(line string, i int) int { return len(line) - len(strings.TrimLeft(line[i+1:], spaces)) }

// unescape returns a key as java.util.Properties does, so that one key has one text. What Java refuses stays as it is.
func unescape(key string) string {
	var text strings.Builder
	for i := 0; i < len(key); {
		if key[i] != '\\' || i+1 == len(key) {
			text.WriteByte(key[i])
			i++
			continue
		}
		escaped := key[i+1]
		i += 2
		switch escaped {
		case '\n':
			i = nextLine(key, i-1)
		case 't', 'n', 'r', 'f':
			text.WriteByte(map[byte]byte{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f'}[escaped])
		case 'u':
			decoded, length := decodeUnicode(key[i-2:])
			text.WriteString(decoded)
			i += length - 2
		default:
			text.WriteByte(escaped)
		}
	}
	return text.String()
}

// decodeUnicode decodes the \uXXXX that a text begins with, or the two of a character beyond 16 bits, and returns their length.
func decodeUnicode(text string) (decoded string, length int) {
	first, ok := codeUnit(text)
	if !ok {
		return text[:2], 2
	}
	if !utf16.IsSurrogate(first) {
		return string(first), 6
	}
	if second, ok := codeUnit(text[6:]); ok && utf16.IsSurrogate(second) {
		if r := utf16.DecodeRune(first, second); r != '\uFFFD' {
			return string(r), 12
		}
	}
	return strings.ToLower(text[:6]), 6
}

// codeUnit reads the \uXXXX that a text begins with.
func codeUnit(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	unit, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(unit), err == nil
}

// spaces are white space in a line of properties.
const spaces = " \t\f\r"

// trimEnd drops the space at a line's end, but not the character that a backslash escapes.
func trimEnd(line string) string {
	trimmed := strings.TrimRight(line, spaces)
	if isContinued(trimmed) && len(trimmed) < len(line) && line[len(trimmed)] != '\r' {
		return line[:len(trimmed)+1]
	}
	return trimmed
}

// isContinued reports whether a line ends with a backslash that isn't escaped itself.
func isContinued(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// mergeProperties puts properties together. A key that comes again replaces the one before, at its place. Keys are compared without their
// escapes: `a\-b` is `a-b`.
func mergeProperties(layers ...[]property) string {
	at := map[string]int{}
	var merged []property
	for _, layer := range layers {
		for _, p := range layer {
			if i, ok := at[p.key]; ok {
				merged[i] = p
				continue
			}
			at[p.key] = len(merged)
			merged = append(merged, p)
		}
	}
	var text strings.Builder
	for _, p := range merged {
		text.WriteString(p.text)
		text.WriteByte('\n')
	}
	return text.String()
}
