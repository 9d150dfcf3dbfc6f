package dsoi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Properties that are put together have the keys of their layers, each with the text of the last one that has it.
func FuzzProperties(f *testing.F) {
	f.Add("a=1\nb=2", "b: 3\n# no\nc=4\\\n 5")
	f.Add("a=1\\", "b=2")
	f.Add("a=\\\\\n!x\r\n", "\n=\n")
	f.Add("a=1 \\", "b=\\ ")
	f.Add("opts -Da\\=b", "\\u006f\\pts=\\ud83d")
	f.Fuzz(func(t *testing.T, below, above string) {
		first, err := parseProperties(below)
		if err != nil {
			return
		}
		second, err := parseProperties(above)
		if err != nil {
			return
		}
		want := map[string]string{}
		for _, p := range append(first, second...) {
			want[p.key] = p.text
		}
		merged, err := parseProperties(mergeProperties(first, second))
		require.NoError(t, err)
		got := map[string]string{}
		for _, p := range merged {
			got[p.key] = p.text
		}
		assert.Equal(t, want, got)
	})
}
