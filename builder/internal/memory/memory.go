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

// Memory is an engine's memory between passes. Each field says what a forgotten entry costs.
type Memory struct {
	// UpToDate has the children that were found up to date. A forgotten child is compared field by field.
	UpToDate *Versions
	// Marked has the versions of children without an owner reference whose marks are proved. Forgotten: their managed fields are read.
	Marked *Versions
	// Settled has the stored form of children that the API server stores in another form than desired. Forgotten: one apply.
	Settled *Settled
	// Immutable has the children that KeepImmutable leaves unchanged. Forgotten: one refused apply.
	Immutable *Recent[types.UID, Immutable]
	// Written has the writes of an owner's last passes that no list has waited for. Forgotten: one conflict.
	Written *OwnWrites
	// Counts has the number of an owner's children after its last pass. Forgotten: one read of the owner before children are created.
	Counts *Recent[types.UID, int]
	// Observed has the children that existed and that no list shows. Forgotten: as Counts.
	Observed *Recent[Child, struct{}]
	// Inventories has the owners' inventories after the engine's own writes. Forgotten: one conflict.
	Inventories *Recent[types.UID, Inventory]
	// Revisions has the hashes of owners' desired phases. Forgotten: all their children are rendered.
	Revisions *Recent[types.UID, Revision]
	// Contests has the children that other writers change repeatedly. Forgotten: some corrections without a backoff.
	Contests *contest.Record
	// Stuck has the time since which the status of each StatefulSet is unchanged. Forgotten: their pods are listed later.
	Stuck *stuck.Watch
	// Refused has the objects that the API server called invalid. Forgotten: one more refused create.
	Refused *Refused
	// Steady has the generations that the passes over an owner have carried out. Forgotten: a former state is kept without need, or a later
	// change is undone together with an earlier one of the same generation and build.
	Steady *Steady
	// External has the external states whose plans wait for a slot. Forgotten: External is called again.
	External *External
	// Conflicts has the number of passes in a row that have ended with a conflict, by owner. Forgotten: some retries without a backoff.
	Conflicts *Recent[types.UID, int]
	// Failures has the last reported failure of each call. Forgotten: the failure is reported again.
	Failures Failures
}

const (
	// maxVersions limits Memory.UpToDate and Memory.Marked: an entry of about 200 bytes for each child.
	maxVersions = 1 << 17
	// maxRemembered limits each other part of a Memory, in entries.
	maxRemembered = 1 << 14
)

// New returns an empty Memory.
func New() *Memory {
	return &Memory{
		UpToDate:    &Versions{newRecent[types.UID, Version](maxVersions)},
		Marked:      &Versions{newRecent[types.UID, Version](maxVersions)},
		Settled:     &Settled{NewRecent[types.UID, settledAs]()},
		Immutable:   NewRecent[types.UID, Immutable](),
		Written:     &OwnWrites{byOwner: NewRecent[types.UID, map[kinds.Kind][]store.Key]()},
		Counts:      NewRecent[types.UID, int](),
		Observed:    NewRecent[Child, struct{}](),
		Inventories: NewRecent[types.UID, Inventory](),
		Revisions:   NewRecent[types.UID, Revision](),
		Contests:    contest.NewRecord(maxRemembered),
		Stuck:       stuck.NewWatch(maxRemembered),
		Refused:     &Refused{answers: NewRecent[refusedKey, *invalidAnswer](), last: NewRecent[store.Key, time.Time]()},
		Steady:      &Steady{of: NewRecent[types.UID, generations]()},
		External:    &External{newRecent[types.UID, *ExternalState](maxExternal)},
		Conflicts:   NewRecent[types.UID, int](),
		Failures:    Failures{reported: NewRecent[Call, string]()},
	}
}

// Recent is a map that drops the least recently used entry. It is safe for concurrent use.
type Recent[K comparable, V any] = lru.Cache[K, V]

// NewRecent returns an empty map with the size of each part of a Memory.
func NewRecent[K comparable, V any]() *Recent[K, V] { return newRecent[K, V](maxRemembered) }

func newRecent[K comparable, V any](size int) *Recent[K, V] {
	c, _ := lru.New[K, V](size) // fails only for a size below 1
	return c
}

// Child is a child of an owner.
type Child struct {
	Owner types.UID
	Key   store.Key
}

// Inventory is an owner's inventory after the engine's own writes alone, since the owner was read at a resource version.
type Inventory struct {
	From string
	inventory.Inventory
}

// Revision is the hash of the desired phases of an owner, and the hash of its input.
type Revision struct {
	From uint64
	Hash string
}

// Immutable is the desired object that the API server refused because of an immutable field.
type Immutable struct {
	Hash   uint64
	Digest string
}
