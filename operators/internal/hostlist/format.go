package hostlist

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Format returns a list of names, each of which is a DNS subdomain. The same names, in whatever order, make the same
// list.
func Format(names []string) string {
	items := map[place][]string{}
	for _, name := range names {
		at, item := split(name)
		items[at] = append(items[at], item)
	}
	places := slices.SortedFunc(maps.Keys(items), func(a, b place) int {
		return cmp.Or(strings.Compare(a.before, b.before), strings.Compare(a.after, b.after))
	})
	var list strings.Builder
	for i, at := range places {
		if i > 0 {
			list.WriteByte(',')
		}
		slices.SortFunc(items[at], byLength)
		between := slices.Compact(items[at])
		list.WriteString(at.before)
		if len(between) == 1 {
			list.WriteString(between[0])
		} else {
			list.WriteString("[" + ranges(between) + "]")
		}
		list.WriteString(at.after)
	}
	return list.String()
}

// ranges joins what is between brackets, which is ordered.
func ranges(items []string) string {
	var list strings.Builder
	for i := 0; i < len(items); {
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString(items[i])
		end := i + 1
		if first, ok := number(items[i]); ok {
			for end < len(items) && items[end] == spell(first+uint64(end-i), len(items[i])) {
				end++
			}
		}
		if end > i+1 {
			list.WriteByte('-')
			list.WriteString(items[end-1])
		}
		i = end
	}
	return list.String()
}

// byLength orders numbers by their value, those that are filled up with zeros among those of the same length. Names come
// in no better or worse order by it.
func byLength(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
