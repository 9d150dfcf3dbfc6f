package hostlist

import (
	"slices"
	"strings"
)

// List is a list of names that was read. The zero value is empty.
type List map[place]*items

// items are what is between the brackets of one place.
type items struct {
	single map[string]bool
	ranges []span // in the order of byLength
}

// span is a range of numbers, as they are spelled.
type span struct{ first, last string }

// Parse reads a list that Format wrote. It takes time and space by the list's length, not by the number of its names.
// What Format wouldn't write is in no list.
func Parse(text string) List {
	list := List{}
	for text != "" {
		var at place
		var between string
		if end := strings.IndexAny(text, "[,"); end >= 0 && text[end] == '[' {
			at.before = text[:end]
			between, text, _ = strings.Cut(text[end+1:], "]")
			at.after, text, _ = strings.Cut(text, ",")
		} else {
			var name string
			name, text, _ = strings.Cut(text, ",")
			at, between = split(name)
		}
		list.add(at, between)
	}
	return list
}

func (l List) add(at place, between string) {
	in := l[at]
	if in == nil {
		in = &items{single: map[string]bool{}}
		l[at] = in
	}
	for item := range strings.SplitSeq(between, ",") {
		if first, last, isRange := strings.Cut(item, "-"); isRange {
			in.ranges = append(in.ranges, span{first, last})
		} else {
			in.single[item] = true
		}
	}
}

// Has reports whether a name is in the list.
func (l List) Has(name string) bool {
	if len(l) == 0 {
		return false
	}
	at, item := split(name)
	in := l[at]
	return in != nil && (in.single[item] || in.inRange(item))
}

func (in *items) inRange(item string) bool {
	n, ok := number(item)
	if !ok || len(in.ranges) == 0 {
		return false
	}
	// The last range that begins before the item, or with it.
	i, found := slices.BinarySearchFunc(in.ranges, item, func(s span, item string) int { return byLength(s.first, item) })
	if !found {
		i--
	}
	if i < 0 {
		return false
	}
	first, ok1 := number(in.ranges[i].first)
	last, ok2 := number(in.ranges[i].last)
	return ok1 && ok2 && first <= n && n <= last && spell(n, len(in.ranges[i].first)) == item
}
