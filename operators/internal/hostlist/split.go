package hostlist

import (
	"strconv"
	"strings"

	"github.com/armature-dev/armature/operators/internal/names"
)

// place is what the names of one pair of brackets have in common.
type place struct{ before, after string }

// split divides a name into the place of its brackets and what goes between them: the last part of the host's name,
// without its domain, and of that only the digits if there are some letters and then digits. Of an address it is the
// last number.
func split(name string) (place, string) {
	host, domain := name, ""
	if last := strings.LastIndexByte(name, '.'); last >= 0 && names.IsNumber(name[last+1:]) {
		return place{name[:last+1], ""}, name[last+1:]
	}
	if dot := strings.IndexByte(name, '.'); dot >= 0 {
		host, domain = name[:dot], name[dot:]
	}
	start := strings.LastIndexByte(host, '-') + 1
	if letters := len(strings.TrimRight(host[start:], "0123456789")); start+letters < len(host) && isWord(host[start:start+letters]) {
		start += letters
	}
	return place{host[:start], domain}, host[start:]
}

// number returns the value of what is between brackets, and false if it isn't a number or too large for one.
func number(item string) (uint64, bool) {
	if !names.IsNumber(item) || len(item) > 18 {
		return 0, false
	}
	n, err := strconv.ParseUint(item, 10, 64)
	return n, err == nil
}

// spell returns a number filled up with zeros to the width of the first of its range.
func spell(n uint64, width int) string {
	digits := strconv.FormatUint(n, 10)
	if fill := width - len(digits); fill > 0 {
		return strings.Repeat("0", fill) + digits
	}
	return digits
}

func isWord(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}
