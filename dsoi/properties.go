package dsoi

import (
	"fmt"
	"strings"
)

// property is a line, or several that a backslash at the end puts together, as it was written.
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
		key, ok := keyOf(line)
		if !ok {
			return nil, fmt.Errorf("line %d is %q; want key=value", first+1, line)
		}
		if key == "" {
			return nil, fmt.Errorf("line %d is %q, which has no key; want key=value", first+1, line)
		}
		all = append(all, property{key, line})
	}
	return all, nil
}

// keyOf returns the key of a line as java.util.Properties reads it: up to the first '=', ':' or white space that no backslash escapes. It
// reports whether an unescaped '=' or ':' is in the line: Java also reads a line without, which is here more likely a mistake.
func keyOf(line string) (key string, ok bool) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			if i++; i < len(line) && line[i] == '\n' { // the key goes on in the next line, after its white space
				i += len(line[i+1:]) - len(strings.TrimLeft(line[i+1:], spaces))
			}
		case '=', ':':
			return line[:min(end, i)], true
		case ' ', '\t', '\f':
			end = min(end, i)
		}
	}
	return "", false
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

// mergeProperties puts properties together. A key that comes again replaces the one before, at its place.
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
