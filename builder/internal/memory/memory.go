package memory

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/stuck"
	"github.com/armature-dev/armature/store"
)

// Memory is what an engine remembers between passes.
type Memory struct {
	// UpToDate has the children that were found up to date. Forgotten: the child is compared field by field.
	UpToDate *Versions
	// Marked has the versions of children without an owner reference whose marks are proved. Forgotten: their managed fields are read.
	Marked *Versions
	// Settled has what the API server made of children that it stores otherwise than desired. Forgotten: one apply.
	Settled *Settled
	// Immutable has the children that the policy Keep leaves as they are. Forgotten: one refused apply.
	Immutable *Recent[types.UID, Immutable]
	// Written has the writes of an owner's last passes that no list has waited for. Forgotten: one conflict.
	Written *OwnWrites
	// Counts has how many children an owner had after its last pass. Forgotten: one read of the owner before children are created.
	Counts *Recent[types.UID, int]
	// Observed has the children that were there and that no list shows. Forgotten: as Counts.
	Observed *Recent[Child, struct{}]
	// Inventories has what own writes made of owners' inventories. Forgotten: one conflict.
	Inventories *Recent[types.UID, Inventory]
	// Revisions has the hashes of owners' desired phases. Forgotten: all their children are rendered.
	Revisions *Recent[types.UID, Revision]
	// Contests has the children that other writers keep changing. Forgotten: some corrections without a backoff.
	Contests *contest.Record
	// Stuck has since when the status of StatefulSets has been the same. Forgotten: their pods are listed later.
	Stuck *stuck.Watch
	// Refused has what the API server called invalid. Forgotten: one more refused create.
	Refused *Refused
	// Failures has the last failure reported of each call. Forgotten: it is reported again.
	Failures Failures
}

const (
	// maxVersions bounds Memory.UpToDate and Memory.Marked: an entry of some 200 bytes a child.
	maxVersions = 1 << 17
	// maxRemembered bounds each other part of a Memory, in entries.
	maxRemembered = 1 << 14
)

// New returns a Memory that knows nothing.
func New() *Memory {
	return &Memory{
		UpToDate:    newVersions(maxVersions),
		Marked:      newVersions(maxVersions),
		Settled:     &Settled{NewRecent[types.UID, settledAs]()},
		Immutable:   NewRecent[types.UID, Immutable](),
		Written:     &OwnWrites{byOwner: NewRecent[types.UID, map[kinds.Kind][]store.Key]()},
		Counts:      NewRecent[types.UID, int](),
		Observed:    NewRecent[Child, struct{}](),
		Inventories: NewRecent[types.UID, Inventory](),
		Revisions:   NewRecent[types.UID, Revision](),
		Contests:    contest.NewRecord(maxRemembered),
		Stuck:       stuck.NewWatch(maxRemembered),
		Refused:     &Refused{answers: NewRecent[refusedKey, *invalidAnswer](), last: map[kindIn]time.Time{}},
		Failures:    Failures{reported: NewRecent[Call, string]()},
	}
}

// Recent is a map that drops the entry that was used least recently. It is safe for concurrent use.
type Recent[K comparable, V any] = lru.Cache[K, V]

// NewRecent returns an empty map of as many entries as each part of a Memory has.
func NewRecent[K comparable, V any]() *Recent[K, V] {
	c, err := lru.New[K, V](maxRemembered)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return c
}

// Child is a child of an owner.
type Child struct {
	Owner types.UID
	Key   store.Key
}

// Inventory is what an engine's own writes alone made of an owner's inventory, since the owner was read at a resource version.
type Inventory struct {
	From string
	inventory.Inventory
}

// Revision is the hash of the desired phases of an owner, and the hash of what it was computed from.
type Revision struct {
	From uint64
	Hash string
}

// Immutable is what an object was desired to be when the API server refused to change it.
type Immutable struct {
	Hash   uint64
	Digest string
}
