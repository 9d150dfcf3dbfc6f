package intervals

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func read(text string, n int) []int {
	var all []int
	Each(text, n, func(i int) { all = append(all, i) })
	return all
}

func TestEach(t *testing.T) {
	for text, want := range map[string][]int{
		"":                     nil,
		"0":                    {0},
		"0-4,7":                {0, 1, 2, 3, 4, 7},
		"8-99":                 {8, 9},
		"3-1":                  nil,
		"x,-1,2-,5":            {5},
		"4-4":                  {4},
		"99999999999999999999": nil,
	} {
		assert.Equal(t, want, read(text, 10), text)
	}
}

func TestFormatIsReadBack(t *testing.T) {
	assert.Equal(t, "0-4,7", Format(10, func(i int) bool { return i < 5 || i == 7 }))
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOf(rapid.Bool()).Draw(t, "set")
		got := make([]bool, len(set))
		Each(Format(len(set), func(i int) bool { return set[i] }), len(set), func(i int) { got[i] = true })
		assert.Equal(t, append([]bool{}, set...), got)
	})
}
