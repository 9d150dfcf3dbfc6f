package builder

import (
	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/stuck"
	"github.com/armature-dev/armature/store"
)

// memory is what an Engine remembers between passes. All of it is bounded, in memory only, and an optimization: what it has
// forgotten, or lost with the process, costs requests or a repeated event, as each field says, and never correctness.
type memory struct {
	// upToDate has the children that were found up to date. Forgotten: the child is compared field by field.
	upToDate *memo
	// marked has the versions of children without an owner reference whose marks are proved. Forgotten: their managed fields are read.
	marked *memo
	// settled has what the API server made of children that it stores otherwise than desired. Forgotten: one apply.
	settled *recent[types.UID, settledAs]
	// immutable has the children that the policy Keep leaves as they are. Forgotten: one refused apply.
	immutable *recent[types.UID, keptAs]
	// written has the writes of an owner's last passes that no list has waited for. Forgotten: one conflict.
	written *ownWrites
	// counts has how many children an owner had after its last pass. Forgotten: one read of the owner before children are created.
	counts *recent[types.UID, int]
	// observed has the children that were there and that no list shows. Forgotten: as counts.
	observed *recent[ownedChild, struct{}]
	// inventories has what own writes made of owners' inventories. Forgotten: one conflict.
	inventories *recent[types.UID, renewal]
	// revisions has the hashes of owners' desired phases. Forgotten: all their children are rendered.
	revisions *recent[types.UID, revisionMemo]
	// contests has the children that other writers keep changing. Forgotten: some corrections without a backoff.
	contests *contest.Record
	// stuck has since when the status of StatefulSets has been the same. Forgotten: their pods are listed later.
	stuck *stuck.Watch
	// refused has what the API server called invalid. Forgotten: one more refused create.
	refused *refused
	// failures has the last failure reported of each call. Forgotten: it is reported again.
	failures failures
}

// ownedChild is a child of an owner.
type ownedChild struct {
	owner types.UID
	child store.Key
}

// maxRemembered bounds each part of the memory but upToDate, in entries.
const maxRemembered = 1 << 14

func newMemory() memory {
	return memory{
		upToDate:    newMemo(memoSize),
		marked:      newMemo(memoSize),
		settled:     newRecent[types.UID, settledAs](),
		immutable:   newRecent[types.UID, keptAs](),
		written:     newOwnWrites(),
		counts:      newRecent[types.UID, int](),
		observed:    newRecent[ownedChild, struct{}](),
		inventories: newRecent[types.UID, renewal](),
		revisions:   newRecent[types.UID, revisionMemo](),
		contests:    contest.NewRecord(maxRemembered),
		stuck:       stuck.NewWatch(maxRemembered),
		refused:     newRefused(),
		failures:    newFailures(),
	}
}

// recent is a map that drops the entry that was used least recently. It is safe for concurrent use.
type recent[K comparable, V any] = lru.Cache[K, V]

func newRecent[K comparable, V any]() *recent[K, V] {
	c, err := lru.New[K, V](maxRemembered)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return c
}
