package hostlist

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A list is read in time and space by its length, whatever is in it, and one that Format wrote has the names that it was given.
func FuzzParse(f *testing.F) {
	f.Add("rack1-node[8-9,011-012],b", "rack1-node8 b n-08 10.0.0.5")
	f.Add("a[1-18446744073709551615]b,[", "a-1 a-2 x.y.z")
	f.Add("[[]],,-[-],1-[3-2-1]", "1 2 03 é")
	f.Fuzz(func(t *testing.T, text, names string) {
		list := Parse(text)
		items := 0
		for _, in := range list {
			items += len(in.single) + len(in.ranges)
		}
		assert.LessOrEqual(t, items, 1+strings.Count(text, ",")+strings.Count(text, "["))
		var given []string
		for name := range strings.FieldsSeq(names) {
			list.Has(name)
			if !strings.ContainsAny(name, ",[]") { // no host's name has them
				given = append(given, name)
			}
		}
		written := Format(given)
		read := Parse(written)
		for _, name := range given {
			if isHost(name) {
				assert.True(t, read.Has(name), "%q in %q", name, written)
			}
		}
	})
}

// isHost reports whether a name has only the characters that a host's may have.
func isHost(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == ""
}
