// Package intervals writes sets of indexes as short texts, such as "0-4,7", as Indexed Jobs do.
package intervals

import (
	"strconv"
	"strings"
)

// Format returns the indexes below n that has says yes to, in intervals: "0-4,7". It is empty if there are none.
func Format(n int, has func(i int) bool) string {
	var b strings.Builder
	for i := 0; i < n; i++ {
		if !has(i) {
			continue
		}
		first := i
		for i+1 < n && has(i+1) {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if i > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(i))
		}
	}
	return b.String()
}

// Each calls f with each index below n that a text has. What can't be read is passed over: the text may be anyone's.
func Each(text string, n int, f func(i int)) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 31)
		last, err2 := strconv.ParseUint(to, 10, 31)
		if err1 != nil || err2 != nil {
			continue
		}
		for i := int(first); i <= int(last) && i < n; i++ {
			f(i)
		}
	}
}
