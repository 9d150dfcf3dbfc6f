package store

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// ordered returns the members in the order in which they are to have a key: by rendezvous hashing, so that the order of
// the others stays when one comes or goes.
func ordered(members []Member, key string) []Member {
	all := slices.Clone(members)
	slices.SortFunc(all, func(a, b Member) int {
		return cmp.Or(cmp.Compare(weight(b.Name, key), weight(a.Name, key)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// owners returns the members that are to have a key.
func owners(members []Member, key string, replicas int) []Member {
	all := ordered(members, key)
	return all[:min(replicas, len(all))]
}

func weight(member, key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(member))
	h.Write([]byte{0})
	h.Write([]byte(key))
	x := h.Sum64() // FNV's upper bits hardly depend on its last bytes
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}
