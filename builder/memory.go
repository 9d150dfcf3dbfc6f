package builder

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/payload"
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

// revisionMemo is the hash of the desired phases of an owner, and the hash of what it was computed from.
type revisionMemo struct {
	look uint64
	hash string
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

// memo remembers, for a bounded number of children, to what desired object they are up to date. A child that it has
// forgotten is compared field by field once more; nothing is written for that.
//
// There are two generations: when the young one is full it becomes the old one, and what is asked for in the old one
// comes back. So what is in use stays, and a hit in the young one takes no more than a read lock.
type memo struct {
	size int // of a generation

	mu         sync.RWMutex
	young, old map[types.UID]memoEntry
}

// memoEntry says that a child at a resource version is up to date with the desired object of that hash.
type memoEntry struct {
	resourceVersion string
	hash            uint64
}

func newMemo(size int) *memo {
	return &memo{size: max(size/2, 1), young: map[types.UID]memoEntry{}}
}

func (m *memo) add(uid types.UID, entry memoEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.young[uid]; !ok && len(m.young) >= m.size {
		m.young, m.old = make(map[types.UID]memoEntry, m.size), m.young
	}
	m.young[uid] = entry
}

func (m *memo) has(uid types.UID, entry memoEntry) bool {
	m.mu.RLock()
	known, young := m.young[uid]
	ok := young
	if !young {
		known, ok = m.old[uid]
	}
	m.mu.RUnlock()
	if !ok || known != entry {
		return false
	}
	if !young {
		m.add(uid, entry)
	}
	return true
}

// remember records that a child is up to date. The server has said so: by its answer to a write, or by a comparison.
func (e *Engine) remember(child client.Object, d *desired) {
	if d.hashed && !e.dry {
		e.memory.upToDate.add(child.GetUID(), memoEntry{child.GetResourceVersion(), d.hash})
	}
}

// remembers reports whether this very version of a child is known to be up to date with this very object.
func (e *Engine) remembers(child client.Object, d *desired) bool {
	return d.hashed && e.memory.upToDate.has(child.GetUID(), memoEntry{child.GetResourceVersion(), d.hash})
}

// knows reports whether a child was last up to date with the desired object of that hash, at whatever version.
func (m *memo) knows(uid types.UID, hash uint64) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	known, ok := m.young[uid]
	if !ok {
		known, ok = m.old[uid]
	}
	return ok && known.hash == hash
}

// keptAs is what an object was desired to be when the API server refused to change it.
type keptAs struct {
	hash   uint64
	digest string
}

// rememberImmutable notes that an object can't be changed into the desired one and stays as it is, so that no further request is made.
func (e *Engine) rememberImmutable(found client.Object, d *desired) {
	e.memory.immutable.Add(found.GetUID(), keptAs{d.hash, d.digest})
}

// isLeftImmutable reports whether an object is known to be left as it is, since just this is desired.
func (p *pass) isLeftImmutable(d *desired, found client.Object) (bool, error) {
	as, ok := p.engine.memory.immutable.Get(found.GetUID())
	if !ok {
		return false, nil
	}
	if d.hashed && as.hash == d.hash {
		return true, nil
	}
	err := d.stamp(p)
	return err == nil && as.digest == d.digest, err
}

// settledAs is what the API server made of a child that was applied, where that doesn't contain what is desired: a field
// that a custom resource's schema prunes, a value that it or a webhook writes in another form. Applying the same once more
// to the same would change nothing, so that no request is made before one of them is another. The status, the resource
// version and the record of managed fields change all the time, and decide nothing; the generation says nothing that the
// content doesn't, and not all kinds have one.
type settledAs struct {
	desired string // digest
	content string // digest
	at      time.Time
}

// settledFor bounds how long the API server's answer is believed: a schema, a webhook or a policy may change, of which the
// object shows nothing. Then the next change of the object, be it of its status, has it applied once more.
const settledFor = time.Hour

// settle notes what the API server made of a child, if it isn't what is desired.
func (e *Engine) settle(stored client.Object, d *desired) {
	if e.dry || stored.GetUID() == "" {
		return
	}
	if e.contains(d, stored) {
		e.memory.settled.Remove(stored.GetUID())
		return
	}
	if content, ok := contentOf(stored, d); ok {
		e.memory.settled.Add(stored.GetUID(), settledAs{d.digest, content, e.now()})
	}
}

// isSettled reports whether a child is what the API server made of just what is desired.
func (e *Engine) isSettled(found client.Object, d *desired) bool {
	as, ok := e.memory.settled.Get(found.GetUID())
	if !ok {
		return false
	}
	if as.desired != d.digest || e.now().Sub(as.at) >= settledFor {
		return false
	}
	content, ok := contentOf(found, d)
	return ok && content == as.content
}

// contentOf returns a digest of an object without its status and what the API server alone writes.
func contentOf(obj client.Object, d *desired) (string, bool) {
	fields, err := payload.Of(obj, d.kind.gvk)
	if err != nil {
		return "", false
	}
	digest, err := payload.Digest(fields)
	return digest, err == nil
}
