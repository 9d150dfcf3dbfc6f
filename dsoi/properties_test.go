package dsoi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMergeProperties(t *testing.T) {
	tests := map[string]struct {
		layers []string
		want   string
	}{
		"none":                   {nil, ""},
		"one":                    {[]string{"a=1\n b = 2 \n"}, "a=1\nb = 2\n"},
		"a later one wins":       {[]string{"a=1\nb=2", "c=3", "b=4"}, "a=1\nb=4\nc=3\n"},
		"twice in one":           {[]string{"a=1\na=2"}, "a=2\n"},
		"comments and space":     {[]string{"# no\n\n! no\r\na=1\r\n"}, "a=1\n"},
		"a colon":                {[]string{"a: 1", "a=2"}, "a=2\n"},
		"an equals sign first":   {[]string{"url=http://x:80/?a=b"}, "url=http://x:80/?a=b\n"},
		"a colon first":          {[]string{"url: http://x?a=1", "url=b"}, "url=b\n"},
		"a colon in a value":     {[]string{"url=http://x", "url: http://y?b=2"}, "url: http://y?b=2\n"},
		"escaped in a key":       {[]string{"a\\:b=1\na\\=b=2", "a\\=b: 3"}, "a\\:b=1\na\\=b: 3\n"},
		"space after the key":    {[]string{"a b=1", "a=2"}, "a=2\n"},
		"a continued key":        {[]string{"a\\\n b=1\na\\\n c=2"}, "a\\\n b=1\na\\\n c=2\n"},
		"continued":              {[]string{"a=1,\\\n  2\nb=3", "b=4\\"}, "a=1,\\\n  2\nb=4\n"},
		"continued by nothing":   {[]string{"a=1\\", "b=2"}, "a=1\nb=2\n"},
		"an escaped backslash":   {[]string{"a=c:\\\\\nb=2"}, "a=c:\\\\\nb=2\n"},
		"a space and nothing":    {[]string{"a=1 \\", "b=2"}, "a=1\nb=2\n"},
		"an escaped space":       {[]string{"a=\\ \nb=2", "c=\\ \\"}, "a=\\ \nb=2\nc=\\ \n"},
		"an escaped separator":   {[]string{"opts -Da\\=b", "opts=c", "o\t\\:"}, "opts=c\no\t\\:\n"},
		"a needless escape":      {[]string{"a\\-b=1", "a-b=2"}, "a-b=2\n"},
		"an escaped character":   {[]string{"a\\u002Db=1\n\\ud83d\\ude00=1", "a-b=2\n😀=2"}, "a-b=2\n😀=2\n"},
		"no escaped character":   {[]string{"a\\u00zz=1\na\\ud83d=1\na\\ude00=1"}, "a\\u00zz=1\na\\ud83d=1\na\\ude00=1\n"},
		"an escaped tab":         {[]string{"a\\tb=1\natb=2", "a\\u0009b=3"}, "a\\u0009b=3\natb=2\n"},
		"a key over two lines":   {[]string{"a\\\n  b=1", "ab=2"}, "ab=2\n"},
		"a value that is empty":  {[]string{"a="}, "a=\n"},
		"a key only in override": {[]string{"", "", "z=1"}, "z=1\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var layers [][]property
			for _, text := range tt.layers {
				layer, err := parseProperties(text)
				require.NoError(t, err)
				layers = append(layers, layer)
			}
			assert.Equal(t, tt.want, mergeProperties(layers...))
		})
	}
	for _, text := range []string{"a=1\nnonsense", "=1", "\\\n=1", " : x", "a\\=b", "a\\=b c", "a b", "a\\\n \\=b"} {
		_, err := parseProperties(text)
		assert.ErrorContains(t, err, "want key=value", text)
	}
}

func TestMergedPropertiesAreTheLastOfEachKey(t *testing.T) {
	key, value := rapid.StringMatching(`[a-c]`), rapid.StringMatching(`[a-z=:]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{}
		var layers [][]property
		for range rapid.IntRange(0, 4).Draw(t, "layers") {
			var lines []string
			for range rapid.IntRange(0, 4).Draw(t, "lines") {
				k, v := key.Draw(t, "key"), value.Draw(t, "value")
				want[k] = v
				lines = append(lines, k+"="+v)
			}
			layer, err := parseProperties(strings.Join(lines, "\n"))
			require.NoError(t, err)
			layers = append(layers, layer)
		}
		got := map[string]string{}
		merged := mergeProperties(layers...)
		for line := range strings.SplitSeq(strings.TrimSuffix(merged, "\n"), "\n") {
			if k, v, ok := strings.Cut(line, "="); ok {
				_, twice := got[k]
				assert.False(t, twice, k)
				got[k] = v
			}
		}
		assert.Equal(t, want, got)
		again, err := parseProperties(merged)
		require.NoError(t, err)
		assert.Equal(t, merged, mergeProperties(again), "what is merged reads as itself")
	})
}
