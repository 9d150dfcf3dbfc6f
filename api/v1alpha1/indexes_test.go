package v1alpha1_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestIndexesOf(t *testing.T) {
	for want, set := range map[v1alpha1.Indexes][]int{
		"":              nil,
		"0":             {0},
		"0-1":           {0, 1},
		"9":             {9},
		"0-2,4,6-9":     {0, 1, 2, 4, 6, 7, 8, 9},
		"1,3,5":         {1, 3, 5},
		"0-9":           {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		"0,2,4,6,8":     {0, 2, 4, 6, 8},
		"0-3,5-6,8-9":   {0, 1, 2, 3, 5, 6, 8, 9},
		"0-1,3-4,6-7,9": {0, 1, 3, 4, 6, 7, 9},
		"0,2-3,5,7,9":   {0, 2, 3, 5, 7, 9},
	} {
		got := v1alpha1.IndexesOf(10, func(i int) bool { return slices.Contains(set, i) })
		assert.Equal(t, want, got)
		assert.Equal(t, set, slices.Collect(got.Below(10)))
	}
}

func TestIndexesBelow(t *testing.T) {
	for given, want := range map[v1alpha1.Indexes][]int{
		"0-9999999999":            {0, 1, 2},
		"-5":                      nil,
		"2-1":                     nil,
		"x,1,y-2,2-z,,2":          {1, 2},
		"1-2-3,0":                 {0},
		"99999999999999999999999": nil,
	} {
		assert.Equal(t, want, slices.Collect(given.Below(3)), string(given))
	}
	for range v1alpha1.Indexes("0-2").Below(3) {
		break // early
	}
}

func TestIndexesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfN(rapid.Bool(), 0, 200).Draw(t, "set")
		got := make([]bool, len(set))
		for i := range v1alpha1.IndexesOf(len(set), func(i int) bool { return set[i] }).Below(len(set)) {
			got[i] = true
		}
		assert.Equal(t, set, got)
	})
}
