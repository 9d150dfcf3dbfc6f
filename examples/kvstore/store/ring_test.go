package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestFewKeysMoveWhenAMemberComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []Member
		for i := range rapid.IntRange(1, 8).Draw(t, "members") {
			members = append(members, Member{Name: fmt.Sprint("storage-", i)})
		}
		key := rapid.String().Draw(t, "key")
		replicas := rapid.IntRange(1, 3).Draw(t, "replicas")
		before := owners(members, key, replicas)
		assert.Len(t, before, min(replicas, len(members)))
		slices.Reverse(members)
		assert.Equal(t, before, owners(members, key, replicas), "the order of the members doesn't matter")

		one := Member{Name: "storage-new"}
		left := []Member{}
		for _, m := range owners(append(members, one), key, replicas) {
			if m != one {
				left = append(left, m)
			}
		}
		assert.Equal(t, before[:len(left)], left, "only the new one takes a place")
	})
}

func TestKeysAreSpread(t *testing.T) {
	members := []Member{{Name: "storage-0"}, {Name: "storage-1"}, {Name: "storage-2"}}
	counts := map[string]int{}
	for i := range 3000 {
		counts[owners(members, fmt.Sprint("load-", i), 1)[0].Name]++
	}
	for _, m := range members {
		assert.InDelta(t, 1000, counts[m.Name], 150, m.Name)
	}
}
