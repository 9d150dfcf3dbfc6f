package pathmap

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Map is a set of container paths with their places on this machine.
type Map struct {
	entries []entry // longest container path first
}

type entry struct{ from, to string }

// New makes a map from container paths to real paths. The container's root
// directory itself, "/", cannot be rewritten and is left out.
func New(paths map[string]string) *Map {
	m := &Map{}
	for from, to := range paths {
		if from = path.Clean(from); from != "/" && strings.HasPrefix(from, "/") {
			m.entries = append(m.entries, entry{from: from, to: to})
		}
	}
	slices.SortFunc(m.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(len(b.from), len(a.from)), cmp.Compare(a.from, b.from))
	})
	return m
}

// Rewrite replaces every container path in the text.
func (m *Map) Rewrite(text string) string {
	var out strings.Builder
	done := 0 // text before this is in out
	for i := 0; i < len(text); {
		e, ok := m.at(text, i)
		if !ok {
			i++
			continue
		}
		out.WriteString(text[done:i])
		out.WriteString(e.to)
		i += len(e.from)
		done = i
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

func (m *Map) at(text string, i int) (entry, bool) {
	if text[i] != '/' || (i > 0 && (pathChar(text[i-1]) || strings.IndexByte("/})", text[i-1]) >= 0)) {
		return entry{}, false
	}
	for _, e := range m.entries {
		rest, found := strings.CutPrefix(text[i:], e.from)
		if found && (rest == "" || !pathChar(rest[0])) {
			return e, true
		}
	}
	return entry{}, false
}

// pathChar reports whether a file name would go on with the character.
func pathChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("_.~-", c) >= 0
}
